import assert from 'node:assert/strict'
import { nextDueMs } from '../../../src/domain/standby/host-lease.ts'
import { firstQuietMs, peerPatienceMs } from '../../../src/domain/standby/host-lease-moves.ts'
import { wakeBackOffMs } from '../../../src/domain/standby/wake-back-off.ts'
import { idleRepeatMs } from '../../../src/domain/standby/host-lease-settlement.ts'
import { LeasePhase } from '../../../src/domain/standby/host-lease-phase.ts'
import type { HostLeaseEvent } from '../../../src/domain/standby/host-lease-state.ts'
import { HostFailure, StandByRefusal } from '../../../src/domain/instance/host-work.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import { leaseKeptMs } from '../../../src/domain/standby/lease-protocol.ts'
import {
  failed,
  gateway,
  kinds,
  open,
  order,
  reached,
  settings,
  startedAs,
  Story,
} from './host-lease-story.ts'

describe('what keeps an instance awake', () => {
  it('an `open` of a gateway is answered or waits, as the diagram of the lease says', () => {
    const answers: Record<LeasePhase, string> = {
      none: 'stopped',
      starting: 'waits',
      running: 'opened',
      draining: 'draining',
      'standing-by': 'waits',
      asleep: 'waits',
      held: 'waits',
      waking: 'waits',
      stopping: 'draining',
    }
    for (const phase of Object.values(LeasePhase)) {
      const answer = reached[phase]()
        .tell({ ...open(5), gateway: 'other' } as HostLeaseEvent)
        .find(({ kind }) => kind === 'opened' || kind === 'refused')
      const word = answer?.kind === 'refused' ? answer.reason : (answer?.kind ?? 'waits')
      assert.equal(word, answers[phase], phase)
    }
  })

  it('a gateway that waits for a start that fails hears why', () => {
    const story = reached.starting()
    story.tell(open(1))
    const [refused] = story.tell({ ...failed, boot: 1 })
    assert.ok(refused?.kind === 'refused')
    assert.deepEqual([refused.reason, refused.failure], ['failed', HostFailure.HostFull])
  })

  it('a lease is kept while something is in flight, and idle begins when the last came back', () => {
    const story = new Story().run()
    story.tell(open(1), { kind: 'open', gateway: 'other', epoch: 1, ports: [] })
    story.after(5_000, { kind: 'returned', gateway, epoch: 1, quietMs: 500 })
    assert.equal(story.isIdle, false)
    const told = story.after(1_000, { kind: 'returned', gateway: 'other', epoch: 1, quietMs: 100 })
    assert.deepEqual(kinds(told), ['count-peers'])
    assert.equal(story.idle?.sinceMs, story.nowMs - 100)
  })

  it('the return of a lease of an older open is ignored', () => {
    const story = new Story().run()
    story.tell(open(1), open(2), { kind: 'returned', gateway, epoch: 1, quietMs: 0 })
    assert.equal(story.isIdle, false)
  })

  it('an application is idle from the moment when it listens, or ten seconds after its start if it never does', () => {
    const silent = new Story().run(1, { listens: false })
    assert.equal(silent.isIdle, false)
    assert.equal(nextDueMs(silent.state), silent.nowMs + 10_000)
    silent.after(10_000)
    assert.equal(silent.idle?.sinceMs, silent.nowMs)
    const listening = new Story().run(1, { listens: false })
    listening.after(700, { kind: 'listened', boot: 1 })
    assert.equal(listening.idle?.sinceMs, listening.nowMs)
  })

  it('an application that was requested is idle since its last request, without the wait of ten seconds', () => {
    const story = new Story()
    story.tell({ kind: 'start', boot: 1 }, open(1))
    story.run(1, { listens: false })
    story.after(300, { kind: 'returned', gateway, epoch: 1, quietMs: 200 })
    assert.equal(story.idle?.sinceMs, story.nowMs - 200)
  })

  it('an instance stays awake for the repeat of the packet that woke it, but not after a request woke it', () => {
    for (const [start, patienceMs] of [
      [StartKind.Restore, peerPatienceMs],
      [StartKind.Boot, firstQuietMs],
    ] as const) {
      const story = new Story().run().sleep({ stateful: start === StartKind.Restore })
      story.tell({ kind: 'peers' }, { kind: 'started', boot: 2, start, settings, listens: false })
      story.after(patienceMs - 1, { kind: 'listened', boot: 2 })
      assert.equal(story.isIdle, false, start)
      story.after(1)
      assert.equal(story.isIdle, true, start)
    }
    const asked = new Story().run().sleep({ stateful: true })
    asked.tell(open(1), { kind: 'started', boot: 2, start: StartKind.Restore, settings, listens: true })
    asked.after(100, { kind: 'returned', gateway, epoch: 1, quietMs: 0 })
    assert.equal(asked.isIdle, true)
  })

  it('the wait for the repeat of a packet ends when its wake fails', () => {
    const story = new Story().run().sleep({ stateful: true })
    story.tell({ kind: 'peers' }, { ...failed, boot: 2 })
    story.after(60_000, open(1), {
      kind: 'started',
      boot: 2,
      start: StartKind.Restore,
      settings,
      listens: true,
    })
    story.after(100, { kind: 'returned', gateway, epoch: 1, quietMs: 0 })
    assert.equal(story.isIdle, true)
  })

  it('the lease of a lost gateway counts for as long as it is kept, and comes back with it', () => {
    const story = new Story().run()
    story.tell(open(1), { kind: 'lost', gateway, keptUntilMs: story.nowMs + leaseKeptMs })
    story.after(leaseKeptMs - 1)
    assert.equal(story.isIdle, false)
    story.tell({ kind: 'hello', gateway, held: { boot: 1, epoch: 1 } })
    story.after(leaseKeptMs)
    assert.equal(story.isIdle, false)
    story.tell({ kind: 'lost', gateway, keptUntilMs: story.nowMs + leaseKeptMs })
    story.after(leaseKeptMs)
    assert.equal(story.idle?.sinceMs, story.nowMs)
  })

  it('an idle period is reported when it has lasted for the cooldown, and never if it is shorter', () => {
    const story = new Story().run()
    const { cooldownMs } = settings
    assert.deepEqual(story.after(cooldownMs - 1), [])
    assert.equal(nextDueMs(story.state), story.nowMs + 1)
    story.tell(open(1))
    story.after(10, { kind: 'returned', gateway, epoch: 1, quietMs: 4 })
    const sinceMs = story.nowMs - 4
    assert.deepEqual(story.after(cooldownMs - 5), [])
    const [told] = story.after(1)
    assert.deepEqual(told, { kind: 'tell-idle', boot: 1, epoch: story.idle?.epoch, sinceMs })
  })

  it('an idle period is reported again and again under its number, until an order or traffic ends it', () => {
    const story = new Story().run()
    const { idle } = story.state
    assert.deepEqual(kinds(story.after(settings.cooldownMs)), ['tell-idle'])
    assert.deepEqual(story.after(idleRepeatMs - 1), [])
    assert.deepEqual(kinds(story.after(1)), ['tell-idle'])
    assert.equal(story.idle?.epoch, idle?.epoch)
  })

  it('no two idle periods have the same number, not even after a restart of the agent', () => {
    const story = new Story().run()
    const first = story.idle?.epoch ?? 0
    story.tell(open(1), { kind: 'returned', gateway, epoch: 1, quietMs: 0 })
    assert.ok((story.idle?.epoch ?? 0) > first)
    const next = new Story()
    next.nowMs = story.nowMs + 10
    assert.ok((next.run().idle?.epoch ?? 0) > (story.idle?.epoch ?? 0))
  })

  it('an instance that never sleeps is never idle, and its leases are never asked back', () => {
    const story = new Story().run(1, { settings: { ...settings, policy: 'off' } })
    const [opened] = story.tell(open(1))
    assert.ok(opened?.kind === 'opened')
    assert.equal(opened.returnAfterMs, undefined)
    story.after(1e6, { kind: 'returned', gateway, epoch: 1, quietMs: 0 })
    assert.deepEqual([story.idle, nextDueMs(story.state)], [undefined, undefined])
  })

  it('the settle time is half of the cooldown, within its bounds', () => {
    for (const [cooldownMs, expected] of [
      [0, 20],
      [100, 50],
      [1_000, 500],
      [60_000, 1_000],
    ] as const) {
      const [opened] = new Story().run(1, { settings: { ...settings, cooldownMs } }).tell(open(1))
      assert.equal(opened?.kind === 'opened' ? opened.returnAfterMs : undefined, expected)
    }
  })

  it('back-off grows to a minute, lets traffic try again then, and ends with a start', () => {
    const story = new Story().run().sleep()
    for (const waitMs of [1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 60_000]) {
      story.tell(open(1))
      assert.equal(story.state.phase, LeasePhase.Waking)
      const effects = story.tell({ ...failed, boot: 2 })
      const refused = effects.find((effect) => effect.kind === 'refused')
      assert.equal(refused?.retryAfterMs, waitMs)
      story.after(waitMs - 1, open(2))
      assert.equal(story.state.phase, LeasePhase.Asleep)
      story.after(1)
      assert.equal(story.state.phase, LeasePhase.Asleep)
    }
    assert.equal(wakeBackOffMs(1_000), 60_000)
    story.tell({ kind: 'start', boot: 2 }, startedAs(2))
    assert.deepEqual([story.state.phase, story.state.wakeFailure], [LeasePhase.Running, undefined])
  })

  it('the permit is used up by its boot', () => {
    const story = reached[LeasePhase.Waking]()
    assert.equal(story.state.permit, 2)
    story.tell(startedAs(2))
    assert.deepEqual([story.state.phase, story.state.permit], [LeasePhase.Running, undefined])
  })

  it('a gateway that gave its lease back hears of a cold boot, because the old memory is gone, but not of a restore', () => {
    for (const kind of [StartKind.Boot, StartKind.Restore]) {
      const story = new Story().run()
      story.tell(open(1), { kind: 'returned', gateway, epoch: 1, quietMs: 0 })
      story.sleep({ stateful: true })
      const effects = story.tell(open(2), { kind: 'started', boot: 2, start: kind, settings, listens: true })
      const gone = { kind: 'tell-gateway', gateway, word: 'gone', boot: 1 }
      const told = effects.filter((effect) => effect.kind === 'tell-gateway')
      assert.deepEqual(told, kind === StartKind.Restore ? [] : [gone])
    }
  })

  it('a waiting gateway shortens a cold shutdown once, and a snapshot not at all', () => {
    const story = reached['standing-by']()
    assert.deepEqual(kinds(story.tell(open(1), { kind: 'open', gateway: 'other', epoch: 1, ports: [] })), [
      'hurry',
    ])
    const keeping = new Story().run()
    keeping.tell({ kind: 'stand-by', ...order, stateful: true, epoch: keeping.idle?.epoch ?? 0 })
    assert.deepEqual(keeping.tell(open(1)), [])
  })

  it('a gateway that waited through a standby wakes the instance as soon as it sleeps', () => {
    const story = reached['standing-by']()
    story.tell(open(1))
    assert.deepEqual(kinds(story.tell({ kind: 'slept', boot: 1, memoryKept: false })), [
      'answer-stand-by',
      'wake',
    ])
    const [opened] = story.after(1_300, startedAs(2))
    assert.ok(opened?.kind === 'opened')
    assert.deepEqual(opened.woken, { kind: StartKind.Boot, wakeUs: 1_300_000 })
  })

  it('an instance that stayed awake lets waiting gateways in, as if nothing had happened', () => {
    const story = reached['standing-by']()
    story.tell(open(1))
    const effects = story.tell({ kind: 'stayed-awake', boot: 1, reason: StandByRefusal.SnapshotFailed })
    assert.deepEqual(kinds(effects), ['answer-stand-by', 'opened'])
    assert.equal(
      effects.some((effect) => effect.kind === 'opened' && effect.woken !== undefined),
      false,
    )
  })

  it('an order that only leaves a permit, after a boot that never ran, does not lower the boot and starts nothing', () => {
    const left = { ...order, boot: 0 }
    const slept = new Story()
    slept.tell({ kind: 'stopped', boot: 1 }, { kind: 'stand-by', ...left })
    slept.tell({ kind: 'slept', boot: 0, memoryKept: false })
    assert.deepEqual([slept.state.phase, slept.state.boot, slept.state.permit], [LeasePhase.Asleep, 1, 2])
    const awake = new Story()
    awake.tell({ kind: 'stopped', boot: 1 }, { kind: 'stand-by', ...left })
    awake.tell({ kind: 'stayed-awake', boot: 0, reason: StandByRefusal.NotRunning })
    assert.deepEqual([awake.state.phase, awake.state.boot], [LeasePhase.None, 1])
  })

  it('nothing goes to standby before the gateways have said which leases they hold', () => {
    const story = new Story().run()
    story.state = { ...story.state, unsureUntilMs: story.nowMs + leaseKeptMs }
    story.tell({ kind: 'tick' })
    assert.equal(story.isIdle, false)
    const [answer] = story.tell({ kind: 'stand-by', ...order })
    assert.ok(answer?.kind === 'answer-stand-by')
    assert.equal(answer.refused, StandByRefusal.Unsure)
    story.after(leaseKeptMs)
    assert.equal(story.idle?.sinceMs, story.nowMs)
  })
})
