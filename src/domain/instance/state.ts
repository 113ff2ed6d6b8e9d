/** The states of an instance in the API. The lifecycle itself is in `lifecycle.ts`. */
export const InstanceState = {
  Stopped: 'stopped',
  Starting: 'starting',
  Running: 'running',
  Draining: 'draining',
  Stopping: 'stopping',
  Standby: 'standby',
} as const
export type InstanceState = (typeof InstanceState)[keyof typeof InstanceState]

export const instanceStates = Object.values(InstanceState)

/** Whether nothing of the instance runs, comes up or ends. */
export function isDown(state: InstanceState): boolean {
  return state === InstanceState.Stopped || state === InstanceState.Standby
}

/** States that count against the live quotas: everything but stopped. */
export function isLive(state: InstanceState): boolean {
  return state !== InstanceState.Stopped
}
