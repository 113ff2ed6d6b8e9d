import type { VolumeMount } from '../volume/state.ts'

/** What a schedule does each time. */
export const ScheduleActionType = {
  Start: 'start',
  Stop: 'stop',
  /** Makes an instance, waits until its application has ended, and deletes it. */
  Run: 'run',
} as const
export type ScheduleActionType = (typeof ScheduleActionType)[keyof typeof ScheduleActionType]

/** Plain JSON without secrets: the variables of a run are stored beside it, sealed. */
export type ScheduleAction = StartAction | StopAction | RunAction

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

export type RunVolume = { readonly mount: VolumeMount } & (
  | { readonly existing: { readonly uuid: string } | { readonly name: string } }
  | { readonly made: { readonly sizeMb: number } }
)

export const defaultRunTimeoutMs = 3_600_000

/** What the action does, as a phrase after the name of its schedule. */
export function actionInWords(action: ScheduleAction): string {
  if (action.type === ScheduleActionType.Run) return `runs ${action.image.split('@', 1)[0]} to its end`
  const verb = action.type === ScheduleActionType.Start ? 'starts' : 'stops'
  return `${verb} ${action.instances.join(', ')}`
}
