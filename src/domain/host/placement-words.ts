import type { PlacementReason } from './placement.ts'

/** An instance with the host on which it was placed. */
export interface PlacedInstance {
  readonly nodeId: string
  /** Absent: nothing is known, or there is nothing to explain. */
  readonly reason?: PlacementReason
  /** Whether it still has a volume, which is where the instance is. */
  readonly hasVolume: boolean
}

/**
 * Says why an instance is on its host, for people; undefined if nothing is known of it. Its user learns no
 * figures of the host, because they tell of other users. Administrators see them with the host.
 */
export function placementWords({ nodeId, reason, hasVolume }: PlacedInstance): string | undefined {
  return reason === undefined ? undefined : `it is on host ${nodeId}, ${why(reason, hasVolume)}`
}

type ReasonOf<Kind> = Extract<PlacementReason, { readonly kind: Kind }>

function why(reason: PlacementReason, hasVolume: boolean): string {
  const tell = wordsOf[reason.kind] as (reason: PlacementReason, hasVolume: boolean) => string
  return tell(reason, hasVolume)
}

const wordsOf: {
  readonly [Kind in PlacementReason['kind']]: (reason: ReasonOf<Kind>, hasVolume: boolean) => string
} = {
  volume: ({ volume }, hasVolume) => `because its volume ${volume} ${hasVolume ? 'is' : 'was'} there`,
  lost: ({ nodeId }) => `because host ${nodeId}, on which it was before, was lost`,
  moved: ({ nodeId }) => `to which it moved from host ${nodeId}; it kept its address`,
  only: () => 'the only one that took new instances when it was made',
  fits: ({ hosts }) => `the only one of ${hosts} hosts that had room for it when it was made`,
  heard: ({ hosts }) => `the only one of ${hosts} hosts with room that was heard when it was made`,
  spread: ({ hosts, alike }) =>
    `which of ${hosts} hosts had fewest instances of the same service or request when it was made (${alike})`,
  room: ({ hosts }) => `which of ${hosts} hosts had most room when it was made`,
}
