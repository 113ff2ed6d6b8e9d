import type { PlacementReason, PromisedRoom } from './placement.ts'

/** An instance with the host on which it was placed. */
export interface PlacedInstance {
  readonly nodeId: string
  /** Absent: nothing is known, or there is nothing to explain. */
  readonly reason?: PlacementReason
  /** Whether it still has a volume, which is where the instance is. */
  readonly hasVolume: boolean
}

/** Says why an instance is on its host, for people; undefined if nothing is known of it. */
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
  only: () => 'the only one that took new instances when it was made',
  fits: ({ hosts }) => `the only one of ${hosts} hosts that had room for it when it was made`,
  heard: ({ hosts }) => `the only one of ${hosts} hosts with room that was heard when it was made`,
  spread: ({ hosts, alike, room }) =>
    `which had fewest instances of the same service or request (${alike}) when it was made (of ${hosts} hosts; ${roomWords(room)})`,
  room: ({ hosts, room }) => `which had most room when it was made (of ${hosts} hosts; ${roomWords(room)})`,
}

function roomWords({ promisedMemoryMb, memoryMb, promisedVcpus, cpus }: PromisedRoom): string {
  const memory = `${promisedMemoryMb} of ${memoryMb} MiB of memory`
  if (cpus === undefined) return `${memory} were promised there before`
  const [vcpus, processors] = [counted(promisedVcpus, 'vCPU'), counted(cpus, 'processor')]
  return `${memory} and ${vcpus} on ${processors} were promised there before`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
