import { ControlUnavailable } from '../../src/control/control-unavailable.ts'

/** What goes wrong with every control in a test. */
export interface ControlFaults {
  /** Nothing answers, as when Temporal is away. */
  isAway?: boolean
}

/** What a fake control was asked, and what is to go wrong with it. */
export interface FakeCalls<Faults extends ControlFaults = ControlFaults> {
  readonly faults: Partial<Faults>
  /** In order. */
  readonly calls: string[]
}

export interface NotedCalls<Faults extends ControlFaults> extends FakeCalls<Faults> {
  /** Notes the call. Throws `ControlUnavailable` where nothing answers. */
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
