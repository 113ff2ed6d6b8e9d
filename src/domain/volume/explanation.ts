import type { Explanation } from '../instance/explanation.ts'
import { VolumePhase } from './state.ts'
import type { VolumeMount } from './state.ts'

/** The facts about a volume that the database holds. */
export interface ExplainedVolume {
  readonly name: string
  readonly nodeId: string
  readonly phase: VolumePhase
  readonly made: boolean
  readonly failure?: string
  readonly deleting: boolean
  /** Whether its host takes no work at present. */
  readonly hostAway: boolean
  readonly attachedTo?: VolumeMount & {
    readonly name: string
    /** Whether that instance runs, sleeps, or is about to start. */
    readonly live: boolean
  }
}

/** Tells people what a volume is doing and why, and what comes next. */
export function explainVolume(volume: ExplainedVolume): Explanation {
  const { name, hostAway, nodeId, deleting, phase } = volume
  const { now, next, works, failure }: Words = deleting ? beingDeleted(volume) : byPhase[phase](volume)
  const waits =
    works === true && hostAway ? `, and waits for host ${nodeId}, which takes no work at present` : ''
  return { now: `${name} ${now}${waits}.`, next, ...(failure === undefined ? {} : { failure }) }
}

interface Words extends Explanation {
  /** Present if the host has to do something for the volume. */
  readonly works?: true
}

const byPhase = {
  [VolumePhase.Uninitialized]: ({ nodeId }) => ({
    now: 'is asked for, and its workflow has not begun',
    next: `host ${nodeId} makes it`,
    works: true,
  }),
  [VolumePhase.Initializing]: ({ nodeId }) => ({
    now: `is being made on host ${nodeId}`,
    next: 'it is available as soon as its file system is made',
    works: true,
  }),
  [VolumePhase.Ready]: whatHasIt,
  [VolumePhase.Busy]: ({ nodeId, failure }) => ({
    now: `is being checked and mended on host ${nodeId}, as an operator asked`,
    next: 'it is available again when nothing is wrong with it any more',
    works: true,
    ...(failure === undefined ? {} : { failure }),
  }),
  [VolumePhase.Error]: ({ name, nodeId, made, failure, attachedTo }) => ({
    now: made ? 'can not be used as it is' : 'could not be made',
    next: `nothing by itself; ${attachedTo?.live === true ? `once ${attachedTo.name} is stopped, ` : ''}\`roost admin volume repair ${name}\` has host ${nodeId} ${made ? 'check and mend all of it' : 'try once more'}`,
    failure: failure ?? 'not known',
  }),
} satisfies Record<VolumePhase, (volume: ExplainedVolume) => Words>

function beingDeleted({ nodeId }: ExplainedVolume): Words {
  return {
    now: `is being deleted from host ${nodeId}`,
    next: 'it is erased as soon as no VM has it any more, and then its room is free',
    works: true,
  }
}

function whatHasIt({ attachedTo }: ExplainedVolume): Words {
  if (attachedTo === undefined) {
    return {
      now: 'is available: no instance has it',
      next: 'nothing, until an instance is created with it or gets it attached',
    }
  }
  const { name, at, readonly, live } = attachedTo
  const place = `${at}${readonly ? ', read-only' : ''}`
  if (live) {
    return {
      now: `is mounted by ${name} at ${place}`,
      next: `nothing; it can be detached when ${name} is stopped`,
    }
  }
  return {
    now: `is attached to ${name}, which is stopped`,
    next: `it is mounted at ${place} when ${name} starts; until then it can be detached`,
  }
}
