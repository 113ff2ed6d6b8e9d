import assert from 'node:assert/strict'
import { nextDueMs } from '../../../src/domain/standby/host-lease.ts'
import { peerPatienceMs } from '../../../src/domain/standby/host-lease-moves.ts'
import { LeasePhase } from '../../../src/domain/standby/host-lease-phase.ts'
import { StandByRefusal } from '../../../src/domain/instance/host-work.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import { failed, kinds, open, reached, settings, startedAs, Story } from './host-lease-story.ts'

const peers = { kind: 'peers' } as const
const wakeFails = { ...failed, boot: 2 }
const goesOn = { kind: 'started', boot: 2, start: StartKind.Restore, settings, listens: true } as const

/**
 * A peer is another instance on the same network. Its first packet to a sleeper is reported, and no further
 * packet until the watch over that address begins again.
 */
describe('a packet of a peer', () => {
  it('within the back-off of a wake begins the next one as soon as that is over', () => {
    const story = reached.asleep()
    story.tell(peers)
    story.after(50, wakeFails)
    const retryAtMs = story.nowMs + 1_000
    assert.deepEqual(kinds(story.after(950, peers)), [])
    assert.equal(nextDueMs(story.state), retryAtMs)
    story.after(49)
    assert.equal(story.state.phase, LeasePhase.Asleep)
    assert.deepEqual(kinds(story.after(1)), ['wake'])
    assert.equal(story.state.phase, LeasePhase.Waking)
  })

  it('causes one wake; after a failed wake only another packet causes the next, when the back-off is over', () => {
    const story = reached.asleep()
    story.tell(peers)
    for (const waitMs of [1_000, 2_000, 5_000]) {
      assert.equal(story.state.phase, LeasePhase.Waking)
      story.tell(wakeFails)
      assert.equal(nextDueMs(story.state), undefined)
      story.after(waitMs / 2, peers)
      assert.deepEqual(story.after(waitMs / 2 - 1), [])
      story.after(1)
    }
    story.tell(wakeFails)
    assert.deepEqual(story.after(3_600_000), [])
    assert.equal(story.state.phase, LeasePhase.Asleep)
  })

  it('that comes shortly before a wake fails causes the next wake', () => {
    const story = reached.asleep()
    story.tell(peers, peers, wakeFails)
    assert.equal(story.state.phase, LeasePhase.Asleep)
    assert.deepEqual(kinds(story.after(1_000)), ['wake'])
  })

  it('that comes before the sleep is complete wakes the instance as soon as it sleeps', () => {
    for (const [story, boot] of [
      [reached['standing-by'](), 1],
      [new Story(), 0],
    ] as const) {
      if (boot === 0)
        story.tell({
          kind: 'stand-by',
          boot,
          epoch: 0,
          permit: 1,
          stateful: false,
          graceMs: 0,
        })
      story.tell(peers)
      assert.equal(story.state.phase, LeasePhase.StandingBy)
      const effects = story.tell({ kind: 'slept', boot, memoryKept: false })
      assert.deepEqual(kinds(effects), ['answer-stand-by', 'wake'])
    }
  })

  it('is satisfied by any boot that comes up, and causes no wake later', () => {
    const story = reached.asleep()
    story.tell({ kind: 'start', boot: 2 }, peers, startedAs(2))
    story.after(peerPatienceMs - 1)
    assert.equal(story.isIdle, false)
    story.after(1)
    const again = { boot: 2, permit: 3, graceMs: 0, stateful: false, epoch: story.idle?.epoch ?? 0 }
    story.tell({ kind: 'stand-by', ...again })
    assert.equal(story.state.phase, LeasePhase.StandingBy)
    story.tell({ kind: 'slept', boot: 2, memoryKept: false })
    assert.equal(story.state.phase, LeasePhase.Asleep)
  })

  it('is satisfied by a start by hand, too, and forgotten by a stop', () => {
    const story = reached.asleep()
    story.tell(peers, wakeFails, peers, { kind: 'start', boot: 2 }, goesOn)
    assert.deepEqual([story.state.peersWait, story.state.peersWoke], [undefined, undefined])
    const stopped = reached.asleep()
    stopped.tell(peers, wakeFails, peers, { kind: 'stop', boot: 2 }, { kind: 'stopped', boot: 2 })
    assert.deepEqual(stopped.after(60_000), [])
    assert.deepEqual([stopped.state.phase, stopped.state.peersWait], [LeasePhase.None, undefined])
  })

  it('reaches an instance that stayed awake', () => {
    const story = reached['standing-by']()
    story.tell(peers, { kind: 'stayed-awake', boot: 1, reason: StandByRefusal.SnapshotFailed })
    assert.deepEqual([story.state.phase, story.state.peersWait], [LeasePhase.Running, undefined])
  })

  it('does not shorten the back-off for gateways', () => {
    const story = reached.asleep()
    story.tell(peers, wakeFails, peers)
    const [refused] = story.after(400, open(1))
    assert.ok(refused?.kind === 'refused')
    assert.equal(refused.retryAfterMs, 600)
  })
})
