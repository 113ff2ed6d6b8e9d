import { ControlUnavailable } from '../../src/control/control-unavailable.ts'

/** The faults that every fake control can have. */
export interface ControlFaults {
  /** No call is answered, as if Temporal is away. */
  isAway?: boolean
}

/** The calls to a fake control, and its faults. */
export interface FakeCalls<Faults extends ControlFaults = ControlFaults> {
  readonly faults: Partial<Faults>
  /** The calls in their order. */
  readonly calls: string[]
}

export interface NotedCalls<Faults extends ControlFaults> extends FakeCalls<Faults> {
  /** Notes a call. Throws `ControlUnavailable` if `isAway` is set. */
  readonly called: (call: string) => void
}

export function noteCalls<Faults extends ControlFaults = ControlFaults>(): NotedCalls<Faults> {
  const faults: Partial<Faults> = {}
  const calls: string[] = []
  return {
    faults,
    calls,
    called(call) {
      calls.push(call)
      if (faults.isAway === true) throw new ControlUnavailable('nobody answers')
    },
  }
}
