import type { HostLeaseEffect, HostLeaseEvent, HostLeaseState } from './host-lease-state.ts'

/** The context of one decision: the time, and the list for its effects. */
export interface Context {
  readonly nowMs: number
  readonly effects: HostLeaseEffect[]
}

export function effectsOf(nowMs: number): Context {
  return { nowMs, effects: [] }
}

/** For each kind of event, the function that notes it in the state. */
export type Moves<K extends HostLeaseEvent['kind']> = {
  readonly [Kind in K]: (
    state: HostLeaseState,
    event: Extract<HostLeaseEvent, { kind: Kind }>,
    context: Context,
  ) => HostLeaseState
}
