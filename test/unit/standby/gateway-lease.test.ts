import assert from 'node:assert/strict'
import { decide, isAsking, isOpen } from '../../../src/domain/standby/gateway-lease.ts'
import {
  HostConnection,
  GatewayLeasePhase,
  closedGatewayLease,
} from '../../../src/domain/standby/gateway-lease-state.ts'
import type {
  GatewayLeaseEffect,
  GatewayLeaseEvent,
  GatewayLeaseState,
} from '../../../src/domain/standby/gateway-lease-state.ts'

const opened = (epoch: number, boot = 1): GatewayLeaseEvent => ({
  kind: 'opened',
  epoch,
  boot,
  memoryBoot: boot,
  returnAfterMs: 100,
})
const refused = (epoch: number): GatewayLeaseEvent => ({
  kind: 'refused',
  epoch,
  reason: 'failed',
  message: 'no memory',
  retryAfterMs: 500,
})

const rest = (requests: boolean, boot = 1): GatewayLeaseEvent => ({
  kind: 'rest',
  boot,
  withinMs: 1_000,
  requests,
  busy: requests,
  lastMs: 1_000,
})

class Story {
  state: GatewayLeaseState = closedGatewayLease(0, HostConnection.Up)
  nowMs = 1_000

  tell(...events: readonly GatewayLeaseEvent[]): readonly GatewayLeaseEffect[] {
    const all: GatewayLeaseEffect[] = []
    for (const event of events) {
      const { state, effects } = decide(this.state, event, this.nowMs)
      this.state = state
      all.push(...effects)
    }
    return all
  }

  at(phase: GatewayLeasePhase): this {
    this.tell(...ways[phase])
    assert.equal(this.state.phase, phase)
    return this
  }
}

const open = [{ kind: 'wanted' }, opened(1)] as const
const ways: Readonly<Record<GatewayLeasePhase, readonly GatewayLeaseEvent[]>> = {
  [GatewayLeasePhase.Closed]: [],
  [GatewayLeasePhase.Asking]: [{ kind: 'wanted' }],
  [GatewayLeasePhase.Open]: open,
  [GatewayLeasePhase.Busy]: [...open, { kind: 'due', busy: true, lastMs: 1_000 }],
  [GatewayLeasePhase.Ending]: [...open, { kind: 'drain', boot: 1, connected: true }],
  [GatewayLeasePhase.Resting]: [...open, rest(true)],
  [GatewayLeasePhase.Unsure]: [...open, { kind: 'link-silent' }],
}

const events: readonly GatewayLeaseEvent[] = [
  { kind: 'wanted' },
  { kind: 'unwanted' },
  { kind: 'port-missing' },
  { kind: 'due', busy: false, lastMs: 0 },
  { kind: 'due', busy: true, lastMs: 0 },
  { kind: 'calm', lastMs: 1_000 },
  { kind: 'empty' },
  opened(0),
  opened(1),
  opened(2, 2),
  refused(0),
  refused(1),
  { kind: 'drain', boot: 0, connected: true },
  { kind: 'drain', boot: 1, connected: true },
  { kind: 'drain', boot: 1, connected: false },
  { kind: 'undrain', boot: 1 },
  rest(true),
  rest(false),
  rest(true, 0),
  { kind: 'settings', boot: 0, lastMs: 1_000, returnAfterMs: 50 },
  { kind: 'settings', boot: 1, lastMs: 1_000, returnAfterMs: 50 },
  { kind: 'close', boot: 1, connected: true },
  { kind: 'close', boot: 1, connected: false },
  { kind: 'gone', boot: 0 },
  { kind: 'gone', boot: 1 },
  { kind: 'link-lost' },
  { kind: 'link-down' },
  { kind: 'link-silent' },
  { kind: 'link-away' },
  { kind: 'link-unreachable' },
  { kind: 'link-back' },
  { kind: 'moved', link: HostConnection.Up },
  { kind: 'moved', link: HostConnection.Lost },
  { kind: 'moved', link: HostConnection.Away },
  { kind: 'news' },
]

const holding: readonly GatewayLeasePhase[] = [
  GatewayLeasePhase.Open,
  GatewayLeasePhase.Busy,
  GatewayLeasePhase.Ending,
  GatewayLeasePhase.Resting,
  GatewayLeasePhase.Unsure,
]

describe('the lease of a gateway', () => {
  for (const phase of Object.values(GatewayLeasePhase)) {
    for (const event of events) {
      it(`keeps its rules in ${phase} with ${JSON.stringify(event)}, told once and twice`, () => {
        const story = new Story().at(phase)
        for (let time = 0; time < 2; time++) {
          const before = story.state
          const effects = story.tell(event)
          const { state } = story
          const { lease } = state
          assert.equal(
            holding.includes(state.phase),
            lease !== undefined,
            'a lease in the phases that have one',
          )
          assert(state.epoch >= before.epoch, 'epochs grow')
          if (state.phase === GatewayLeasePhase.Asking) assert(state.asked)
          const isDue = state.phase === GatewayLeasePhase.Open || state.phase === GatewayLeasePhase.Resting
          if (state.dueAtMs !== undefined) assert(isDue)
          if (isDue) assert(state.dueAtMs !== undefined, 'no lease is kept for ever')
          const isAway = state.link === HostConnection.Away || state.link === HostConnection.Down
          // The exception: a port that was published while there is no agent is asked for once there is one.
          if (isAway && event.kind !== 'port-missing')
            assert(!state.asked, 'nobody waits for a host that is away')
          if (state.link === HostConnection.Silent && before.link !== HostConnection.Silent)
            assert(!isOpen(state))
          const gaveBack = effects.some(({ kind }) => kind === 'idle')
          if (gaveBack) assert(!isOpen(state), 'nothing is sent after a lease was given back')
          for (const effect of effects) {
            if (effect.kind === 'open') assert.equal(effect.epoch, before.epoch + 1)
            const given = event.kind === 'opened' && !before.asked ? event.epoch : before.lease?.epoch
            if (effect.kind === 'idle') assert.equal(effect.epoch, given)
          }
        }
      })
    }
  }

  it('asks once, however many want it, and lets them in together', () => {
    const story = new Story()
    assert.deepEqual(story.tell({ kind: 'wanted' }, { kind: 'wanted' }), [{ kind: 'open', epoch: 1 }])
    assert.deepEqual(story.tell(opened(1)), [{ kind: 'admit' }])
  })

  it('gives the lease back when nothing has passed for the time that the host said', () => {
    const story = new Story().at(GatewayLeasePhase.Open)
    story.nowMs = 1_100
    story.tell({ kind: 'due', busy: false, lastMs: 1_050 })
    assert.equal(story.state.dueAtMs, 1_150)
    story.nowMs = 1_150
    assert.deepEqual(story.tell({ kind: 'due', busy: false, lastMs: 1_050 }), [
      { kind: 'forget', boot: 1 },
      { kind: 'idle', epoch: 1, quietMs: 100 },
    ])
  })

  it('keeps the lease as its host says from a change of scale-to-zero on', () => {
    const story = new Story().at(GatewayLeasePhase.Open)
    story.tell({ kind: 'settings', boot: 1, lastMs: 1_000 })
    assert.equal(story.state.dueAtMs, undefined)
    story.tell({ kind: 'settings', boot: 1, lastMs: 1_000, returnAfterMs: 300 })
    assert.equal(story.state.dueAtMs, 1_300)
    story.tell({ kind: 'settings', boot: 2, lastMs: 1_000 })
    assert.equal(story.state.dueAtMs, 1_300, 'that is about another boot')
  })

  it('opens on an answer that nobody waits for any more, since the host counts it as held', () => {
    const story = new Story().at(GatewayLeasePhase.Asking)
    assert.deepEqual(story.tell({ kind: 'unwanted' }), [{ kind: 'withdraw', epoch: 1 }])
    story.tell(opened(1))
    assert.equal(story.state.dueAtMs, 1_100)
  })

  for (const heard of ['link-back', 'link-away'] as const) {
    it(`gives back a lease that a silent host opens after nobody wanted it any more: ${heard}`, () => {
      const story = new Story().at(GatewayLeasePhase.Asking)
      story.tell({ kind: 'unwanted' }, { kind: 'link-silent' }, { kind: heard })
      assert.deepEqual(story.tell(opened(1)), [{ kind: 'idle', epoch: 1, quietMs: 0 }])
      assert.equal(story.state.phase, GatewayLeasePhase.Closed)
    })
  }

  it('ignores the answer to an older question while a newer one is asked', () => {
    const story = new Story().at(GatewayLeasePhase.Asking)
    story.tell({ kind: 'link-silent' }, { kind: 'link-back' })
    assert.deepEqual(story.tell(opened(1)), [])
    assert.deepEqual(story.tell(opened(2)), [{ kind: 'admit' }])
  })

  it('ignores a repeated answer after the lease was given back', () => {
    const story = new Story().at(GatewayLeasePhase.Open)
    story.nowMs = 2_000
    story.tell({ kind: 'due', busy: false, lastMs: 1_000 }, opened(1))
    assert.equal(story.state.phase, GatewayLeasePhase.Closed)
  })

  it('repeats a refusal until its back-off is over or the host sends news', () => {
    const story = new Story().at(GatewayLeasePhase.Asking)
    story.tell(refused(1))
    assert.equal(story.tell({ kind: 'wanted' })[0]?.kind, 'fail')
    story.tell({ kind: 'news' })
    assert.deepEqual(story.tell({ kind: 'wanted' }), [{ kind: 'open', epoch: 2 }])
    story.tell(refused(2))
    story.nowMs += 500
    assert.deepEqual(story.tell({ kind: 'wanted' }), [{ kind: 'open', epoch: 3 }])
  })

  it('stays open while its host has no agent, and lets nobody wait for an agent', () => {
    const story = new Story().at(GatewayLeasePhase.Open)
    story.tell({ kind: 'link-lost' }, { kind: 'link-down' })
    assert.deepEqual(story.tell({ kind: 'wanted' }), [{ kind: 'admit' }])
    story.nowMs = 2_000
    assert.deepEqual(story.tell({ kind: 'due', busy: false, lastMs: 1_000 }), [], 'a lease is kept')
    assert(isOpen(story.state))
    story.tell({ kind: 'link-back' })
    story.nowMs = 3_000
    const given = story.tell({ kind: 'due', busy: false, lastMs: 1_000 })
    assert.deepEqual(given.at(-1), { kind: 'idle', epoch: 1, quietMs: 2_000 })
    const sleeper = new Story().at(GatewayLeasePhase.Asking)
    assert.equal(sleeper.tell({ kind: 'link-lost' }, { kind: 'link-down' })[0]?.kind, 'fail')
    assert.equal(sleeper.tell({ kind: 'wanted' })[0]?.kind, 'fail')
  })

  it('sends nothing more once its host is silent, also after a time without an agent', () => {
    const story = new Story().at(GatewayLeasePhase.Open)
    story.tell({ kind: 'link-lost' }, { kind: 'link-down' }, { kind: 'link-silent' })
    assert.equal(story.state.phase, GatewayLeasePhase.Unsure)
  })

  it('ends what is in flight where its host’s machine is lost, and admits to the same boot afterwards', () => {
    const story = new Story().at(GatewayLeasePhase.Unsure)
    const effects = story.tell({ kind: 'link-away' }, { kind: 'link-unreachable' })
    assert.deepEqual(effects[0], { kind: 'end', boot: 1, why: 'lost' })
    assert.equal(story.state.phase, GatewayLeasePhase.Closed)
    assert.deepEqual(story.tell({ kind: 'link-back' }, { kind: 'wanted' }), [{ kind: 'open', epoch: 2 }])
    assert.deepEqual(story.tell(opened(2, 1)), [{ kind: 'admit' }])
  })

  it('asks a silent host again once it is heard, and keeps what is in flight', () => {
    const story = new Story().at(GatewayLeasePhase.Unsure)
    assert.deepEqual(story.tell({ kind: 'wanted' }), [])
    assert(isAsking(story.state))
    assert.deepEqual(story.tell({ kind: 'link-back' }), [{ kind: 'open', epoch: 3 }])
    assert.equal(story.state.phase, GatewayLeasePhase.Unsure)
    story.tell(opened(3, 1))
    assert(isOpen(story.state))
  })

  it('asks a host that was silent for the lease that it had, although nobody waits', () => {
    const story = new Story().at(GatewayLeasePhase.Unsure)
    assert.deepEqual(story.tell({ kind: 'link-back' }), [{ kind: 'open', epoch: 2 }])
  })

  it('asks again for those who waited while the host was lost', () => {
    const story = new Story().at(GatewayLeasePhase.Asking)
    story.tell({ kind: 'link-lost' })
    assert.deepEqual(story.tell({ kind: 'link-back' }), [{ kind: 'open', epoch: 2 }])
  })

  it('lets new traffic wait for a silent host, and not for one that stays away', () => {
    const story = new Story()
    assert.deepEqual(story.tell({ kind: 'link-lost' }, { kind: 'link-silent' }, { kind: 'wanted' }), [])
    assert.equal(story.state.phase, GatewayLeasePhase.Asking)
    assert.equal(story.tell({ kind: 'link-away' })[0]?.kind, 'fail')
    assert.equal(story.tell({ kind: 'wanted' })[0]?.kind, 'fail')
    story.tell({ kind: 'link-back' })
    assert.deepEqual(story.tell({ kind: 'wanted' }), [{ kind: 'open', epoch: 2 }])
  })

  it('says that it is drained once, when nothing is connected any more', () => {
    const story = new Story().at(GatewayLeasePhase.Ending)
    const effects = story.tell({ kind: 'empty' }, { kind: 'empty' })
    assert.equal(effects.filter(({ kind }) => kind === 'drained').length, 1)
  })

  it('ends connections of another memory, and keeps those of the same', () => {
    const story = new Story().at(GatewayLeasePhase.Open)
    story.nowMs = 2_000
    story.tell({ kind: 'due', busy: false, lastMs: 1_000 }, { kind: 'wanted' })
    assert(story.tell(opened(2, 2)).some(({ kind }) => kind === 'end-other-memory'))
    const kept = new Story().at(GatewayLeasePhase.Open)
    kept.nowMs = 2_000
    kept.tell({ kind: 'due', busy: false, lastMs: 1_000 }, { kind: 'wanted' })
    const again = kept.tell({ kind: 'opened', epoch: 2, boot: 2, memoryBoot: 1 })
    assert(!again.some(({ kind }) => kind === 'end-other-memory'))
  })

  it('lets new traffic wait for the answer when a host that was silent is asked again about its lease', () => {
    const story = new Story().at(GatewayLeasePhase.Unsure)
    assert.equal(isAsking(story.state), false)
    story.tell({ kind: 'link-back' }, { kind: 'wanted' })
    assert.equal(story.state.phase, GatewayLeasePhase.Unsure)
    assert.equal(isAsking(story.state), true)
  })
})

describe('the lease of a gateway, while a user sends its instance to standby', () => {
  const inFlight = { kind: 'due', busy: true, lastMs: 1_000 } as const
  const admitted: GatewayLeaseEffect = { kind: 'admit' }

  it('is given back at once if no request is in flight', () => {
    const story = new Story().at(GatewayLeasePhase.Open)
    assert.deepEqual(
      story.tell(rest(false)).map(({ kind }) => kind),
      ['forget', 'idle'],
    )
    assert.equal(story.state.phase, GatewayLeasePhase.Closed)
  })

  it('is given back when the last request ends, and what came meanwhile is asked for then', () => {
    const story = new Story().at(GatewayLeasePhase.Resting)
    assert.deepEqual(story.tell({ kind: 'wanted' }), [], 'nothing new is let in')
    assert(isAsking(story.state))
    const told = story.tell({ kind: 'calm', lastMs: 1_000 })
    assert.deepEqual(told.at(-1), { kind: 'open', epoch: 2 })
    assert.deepEqual(story.tell(opened(2)), [admitted])
  })

  it('is given back when its time is over, and is then asked for without a wake for what is in flight', () => {
    const story = new Story().at(GatewayLeasePhase.Resting)
    assert.deepEqual(story.tell(inFlight), [])
    story.nowMs = 2_000
    const told = story.tell(inFlight)
    assert.deepEqual(told.at(-1), { kind: 'open', epoch: 2, patient: true })
    assert(!isAsking(story.state), 'no answer is under way for others')
    assert.deepEqual(story.tell({ kind: 'wanted' }), [{ kind: 'open', epoch: 3 }])
    assert(isAsking(story.state))
  })

  it('is asked for patiently again over a new connection', () => {
    const story = new Story().at(GatewayLeasePhase.Resting)
    story.nowMs = 2_000
    story.tell(inFlight, { kind: 'link-lost' }, { kind: 'link-down' })
    assert.deepEqual(story.tell({ kind: 'link-back' }), [{ kind: 'open', epoch: 3, patient: true }])
    story.tell(opened(3))
    assert.equal(story.state.patient, undefined)
  })

  it('goes on if the instance stays awake', () => {
    const story = new Story().at(GatewayLeasePhase.Resting)
    story.tell({ kind: 'wanted' })
    assert.deepEqual(story.tell({ kind: 'undrain', boot: 1 }), [admitted])
    assert(isOpen(story.state))
  })

  it('lets nobody wait any longer if the instance is stopped instead', () => {
    for (const kind of ['drain', 'close'] as const) {
      const story = new Story().at(GatewayLeasePhase.Resting)
      story.tell({ kind: 'wanted' })
      const told = story.tell({ kind, boot: 1, connected: true })
      assert(told.some((effect) => effect.kind === 'fail'))
      assert.equal(story.state.phase, GatewayLeasePhase.Ending)
    }
  })
})

describe('the lease of a gateway, when its instance has moved', () => {
  const moved = { kind: 'moved', link: HostConnection.Up } as const

  it('is asked of the new host for what waited at the old one', () => {
    const story = new Story().at(GatewayLeasePhase.Asking)
    assert.deepEqual(story.tell(moved), [{ kind: 'open', epoch: 2 }])
    assert.deepEqual(story.tell(opened(1)), [], 'the old host is not listened to any more')
    assert.deepEqual(story.tell(opened(2, 2)), [{ kind: 'admit' }])
  })

  it('is asked for patiently for what is in flight', () => {
    const story = new Story().at(GatewayLeasePhase.Resting)
    story.nowMs += 1_000
    story.tell({ kind: 'due', busy: true, lastMs: 1_000 })
    assert.deepEqual(story.tell(moved), [{ kind: 'open', epoch: 3, patient: true }])
  })

  it('is not asked for if nobody wants it, and an old refusal counts no more', () => {
    const story = new Story().at(GatewayLeasePhase.Asking)
    assert.deepEqual(story.tell(refused(1), moved).slice(1), [])
    assert.deepEqual(story.tell({ kind: 'wanted' }), [{ kind: 'open', epoch: 2 }])
  })

  it('waits for a new host that is not connected yet', () => {
    const story = new Story().at(GatewayLeasePhase.Asking)
    assert.deepEqual(story.tell({ ...moved, link: HostConnection.Lost }), [])
    assert.deepEqual(story.tell({ kind: 'link-back' }), [{ kind: 'open', epoch: 3 }])
  })
})
