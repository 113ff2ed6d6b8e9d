import type { RolloutOrder } from '../rollout/plan.ts'
import type { VolumeMount } from '../volume/state.ts'

/** What a schedule does each time. */
export const ScheduleActionType = {
  Start: 'start',
  Stop: 'stop',
  /** Makes an instance, waits until its application has ended, and deletes it. */
  Run: 'run',
  /** Brings a new version of a service's instances in, and waits until it serves or has gone back. */
  Rollout: 'rollout',
} as const
export type ScheduleActionType = (typeof ScheduleActionType)[keyof typeof ScheduleActionType]

/** Plain JSON without secrets: the variables of a run or a rollout are stored beside it, sealed. */
export type ScheduleAction = StartAction | StopAction | RunAction | RolloutAction

export interface StartAction {
  readonly type: typeof ScheduleActionType.Start
  /** The names of instances. Each means the instance that has the name at the time of a run. */
  readonly instances: readonly string[]
}

export interface StopAction {
  readonly type: typeof ScheduleActionType.Stop
  readonly instances: readonly string[]
  readonly drainMs: number
}

/** The parameters of the instance, with defaults resolved and the image pinned. */
export interface RunAction {
  readonly type: typeof ScheduleActionType.Run
  /** `<repository>@sha256:<hex>` with the repository as the registry knows it. */
  readonly image: string
  readonly memoryMb: number
  readonly vcpus: number
  /** Absent: the image's own. */
  readonly args?: readonly string[]
  readonly volume?: RunVolume
  /** A run that takes longer is stopped, and has failed. */
  readonly timeoutMs: number
}

/** A rollout of the service that has the name at the time of a run. What is absent stays as it is. */
export interface RolloutAction {
  readonly type: typeof ScheduleActionType.Rollout
  readonly service: string
  /** `<repository>@sha256:<hex>` with the repository as the registry knows it. */
  readonly image?: string
  readonly args?: readonly string[]
  readonly memoryMb?: number
  readonly vcpus?: number
  /** Whether the variables beside the action are all that the new version has. */
  readonly replacesVariables: boolean
  /** The names of variables that are removed. */
  readonly removedVariables: readonly string[]
  readonly plan: RolloutOrder
  readonly supersede: boolean
}

export type RunVolume = { readonly mount: VolumeMount } & (
  | { readonly existing: { readonly uuid: string } | { readonly name: string } }
  | { readonly made: { readonly sizeMb: number } }
)

export const defaultRunTimeoutMs = 3_600_000

/** What the action does, as a phrase after the name of its schedule. */
export function actionInWords(action: ScheduleAction): string {
  if (action.type === ScheduleActionType.Run) return `runs ${action.image.split('@', 1)[0]} to its end`
  if (action.type === ScheduleActionType.Rollout) {
    const image = action.image === undefined ? '' : ` of ${action.image.split('@', 1)[0]}`
    return `rolls out ${action.service}${image}`
  }
  const verb = action.type === ScheduleActionType.Start ? 'starts' : 'stops'
  return `${verb} ${action.instances.join(', ')}`
}
