import { decide } from '../../../src/domain/standby/host-lease.ts'
import { noHostLease } from '../../../src/domain/standby/host-lease-state.ts'
import { LeasePhase } from '../../../src/domain/standby/host-lease-phase.ts'
import type {
  HostLeaseEffect,
  HostLeaseEvent,
  HostLeaseState,
  IdlePeriod,
} from '../../../src/domain/standby/host-lease-state.ts'
import { HostFailure } from '../../../src/domain/instance/host-work.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'

export const settings = { policy: 'on', cooldownMs: 1_000, stateful: false } as const
export const order = { boot: 1, epoch: 0, permit: 2, stateful: false, graceMs: 5_000 }
export const gateway = 'g'
export const open = (epoch: number): HostLeaseEvent => ({ kind: 'open', gateway, epoch, ports: [80] })

/** One instance over time: the state of its lease, and all effects of the events so far. */
export class Story {
  state: HostLeaseState = noHostLease
  nowMs = 100_000
  readonly effects: HostLeaseEffect[] = []

  /** Applies the events and returns only their effects. */
  tell(...events: HostLeaseEvent[]): readonly HostLeaseEffect[] {
    const before = this.effects.length
    for (const event of events) {
      const { state, effects } = decide(this.state, event, this.nowMs)
      this.state = state
      this.effects.push(...effects)
    }
    return this.effects.slice(before)
  }

  after(ms: number, ...events: HostLeaseEvent[]): readonly HostLeaseEffect[] {
    this.nowMs += ms
    return this.tell(...(events.length === 0 ? [{ kind: 'tick' } as const] : events))
  }

  get idle(): IdlePeriod | undefined {
    return this.state.idle
  }

  get isIdle(): boolean {
    return this.idle !== undefined
  }

  run(boot = 1, changes: Partial<Extract<HostLeaseEvent, { kind: 'started' }>> = {}): this {
    this.tell(
      { kind: 'start', boot },
      { kind: 'started', boot, start: StartKind.Boot, settings, listens: true, ...changes },
    )
    return this
  }

  sleep(changes: Partial<typeof order> = {}): this {
    this.tell({ kind: 'stand-by', ...order, epoch: this.state.idle?.epoch ?? 0, ...changes })
    this.tell({ kind: 'slept', boot: changes.boot ?? 1, memoryKept: changes.stateful ?? false })
    return this
  }
}

export const kinds = (effects: readonly HostLeaseEffect[]): readonly string[] =>
  effects.map(({ kind }) => kind)

/** For each phase, a story that reaches it by events. */
export const reached: Readonly<Record<LeasePhase, () => Story>> = {
  [LeasePhase.None]: () => new Story(),
  [LeasePhase.Starting]: () => {
    const story = new Story()
    story.tell({ kind: 'start', boot: 1 })
    return story
  },
  [LeasePhase.Running]: () => new Story().run(),
  [LeasePhase.Draining]: () => {
    const story = new Story().run()
    story.tell(open(1), { kind: 'drain', boot: 1 })
    return story
  },
  [LeasePhase.StandingBy]: () => {
    const story = new Story().run()
    story.tell({ kind: 'stand-by', ...order, epoch: story.state.idle?.epoch ?? 0 })
    return story
  },
  [LeasePhase.Asleep]: () => new Story().run().sleep(),
  [LeasePhase.Held]: () => {
    const story = new Story().run().sleep()
    story.tell({ kind: 'hold' })
    return story
  },
  [LeasePhase.Waking]: () => {
    const story = new Story().run().sleep()
    story.tell(open(1))
    return story
  },
  [LeasePhase.Stopping]: () => {
    const story = new Story().run()
    story.tell({ kind: 'stop', boot: 1 })
    return story
  },
}

export const failed = { kind: 'start-failed', failure: HostFailure.HostFull, message: 'full' } as const
export const startedAs = (boot: number): HostLeaseEvent => ({
  kind: 'started',
  boot,
  start: StartKind.Boot,
  settings,
  listens: true,
})
