import assert from 'node:assert/strict'
import { LeasePhase } from '../../../src/domain/standby/host-lease-phase.ts'
import type { HostLeaseEvent } from '../../../src/domain/standby/host-lease-state.ts'
import { StandByRefusal } from '../../../src/domain/instance/host-work.ts'
import { failed, gateway, open, order, reached, startedAs } from './host-lease-story.ts'

/** Where each event leads from each phase. If an event is not named, the phase stays. */
const table: Readonly<Record<string, readonly [HostLeaseEvent, Partial<Record<LeasePhase, LeasePhase>>]>> = {
  open: [open(2), { asleep: LeasePhase.Waking }],
  patientOpen: [{ ...open(2), patient: true } as HostLeaseEvent, {}],
  withdraw: [{ kind: 'withdraw', gateway, epoch: 1 }, {}],
  returned: [{ kind: 'returned', gateway, epoch: 1, quietMs: 0 }, {}],
  hello: [{ kind: 'hello', gateway }, {}],
  helloHolding: [{ kind: 'hello', gateway, held: { boot: 1, epoch: 1 } }, {}],
  helloOutdated: [{ kind: 'hello', gateway, held: { boot: 9, epoch: 1 } }, {}],
  lost: [{ kind: 'lost', gateway, keptUntilMs: 108_000 }, {}],
  gave: [{ kind: 'gave', gateway, memoryBoot: 1, count: 1 }, {}],
  drained: [{ kind: 'drained', gateway, boot: 1 }, {}],
  disabled: [{ kind: 'disabled', boot: 1, disabled: true }, {}],
  peers: [{ kind: 'peers' }, { asleep: LeasePhase.Waking }],
  peerPackets: [{ kind: 'peer-packets', epoch: 1, count: 1 }, {}],
  standBy: [{ kind: 'stand-by', ...order, epoch: 100_000 }, { running: LeasePhase.StandingBy }],
  leavePermit: [{ kind: 'stand-by', ...order, boot: 0, permit: 1 }, { none: LeasePhase.StandingBy }],
  suspend: [{ kind: 'stand-by', ...order, epoch: 7, drainMs: 500 }, { running: LeasePhase.StandingBy }],
  drain: [{ kind: 'drain', boot: 1 }, { running: LeasePhase.Draining }],
  drainCancelled: [{ kind: 'drain-cancelled', boot: 1 }, { draining: LeasePhase.Running }],
  stop: [
    { kind: 'stop', boot: 2 },
    {
      starting: LeasePhase.Stopping,
      running: LeasePhase.Stopping,
      draining: LeasePhase.Stopping,
      'standing-by': LeasePhase.Stopping,
      asleep: LeasePhase.Stopping,
      held: LeasePhase.Stopping,
      waking: LeasePhase.Stopping,
    },
  ],
  stopBeforePermit: [
    { kind: 'stop', boot: 1 },
    {
      starting: LeasePhase.Stopping,
      running: LeasePhase.Stopping,
      draining: LeasePhase.Stopping,
      'standing-by': LeasePhase.Stopping,
    },
  ],
  remove: [
    { kind: 'remove' },
    {
      starting: LeasePhase.None,
      running: LeasePhase.None,
      draining: LeasePhase.None,
      'standing-by': LeasePhase.None,
      asleep: LeasePhase.None,
      held: LeasePhase.None,
      waking: LeasePhase.None,
      stopping: LeasePhase.None,
    },
  ],
  hold: [{ kind: 'hold' }, { asleep: LeasePhase.Held }],
  release: [{ kind: 'release' }, { held: LeasePhase.Asleep }],
  moved: [
    { kind: 'moved' },
    {
      starting: LeasePhase.None,
      running: LeasePhase.None,
      draining: LeasePhase.None,
      'standing-by': LeasePhase.None,
      asleep: LeasePhase.None,
      held: LeasePhase.None,
      waking: LeasePhase.None,
      stopping: LeasePhase.None,
    },
  ],
  startAgain: [{ kind: 'start', boot: 1 }, { none: LeasePhase.Starting }],
  startNext: [
    { kind: 'start', boot: 2 },
    {
      none: LeasePhase.Starting,
      running: LeasePhase.Starting,
      draining: LeasePhase.Starting,
      'standing-by': LeasePhase.Starting,
      asleep: LeasePhase.Waking,
      held: LeasePhase.Waking,
      stopping: LeasePhase.Starting,
    },
  ],
  startLater: [
    { kind: 'start', boot: 3 },
    {
      none: LeasePhase.Starting,
      running: LeasePhase.Starting,
      draining: LeasePhase.Starting,
      'standing-by': LeasePhase.Starting,
      asleep: LeasePhase.Starting,
      held: LeasePhase.Starting,
      waking: LeasePhase.Starting,
      stopping: LeasePhase.Starting,
    },
  ],
  started: [startedAs(1), { starting: LeasePhase.Running }],
  startedByPermit: [startedAs(2), { waking: LeasePhase.Running }],
  startFailed: [{ ...failed, boot: 1 }, { starting: LeasePhase.None }],
  wakeFailed: [{ ...failed, boot: 2 }, { waking: LeasePhase.Asleep }],
  listened: [{ kind: 'listened', boot: 1 }, {}],
  slept: [{ kind: 'slept', boot: 1, memoryKept: false }, { 'standing-by': LeasePhase.Asleep }],
  stayedAwake: [
    { kind: 'stayed-awake', boot: 1, reason: StandByRefusal.Disabled },
    { 'standing-by': LeasePhase.Running },
  ],
  exited: [
    { kind: 'exited', boot: 1 },
    {
      starting: LeasePhase.None,
      running: LeasePhase.None,
      draining: LeasePhase.None,
      'standing-by': LeasePhase.None,
      stopping: LeasePhase.None,
    },
  ],
  exitedByPermit: [{ kind: 'exited', boot: 2 }, { waking: LeasePhase.None }],
  stopped: [
    { kind: 'stopped', boot: 1 },
    {
      starting: LeasePhase.None,
      running: LeasePhase.None,
      draining: LeasePhase.None,
      'standing-by': LeasePhase.None,
      stopping: LeasePhase.None,
    },
  ],
  stoppedPermit: [
    { kind: 'stopped', boot: 2 },
    {
      starting: LeasePhase.None,
      running: LeasePhase.None,
      draining: LeasePhase.None,
      'standing-by': LeasePhase.None,
      asleep: LeasePhase.None,
      held: LeasePhase.None,
      waking: LeasePhase.None,
      stopping: LeasePhase.None,
    },
  ],
  tick: [{ kind: 'tick' }, {}],
}

describe('each event leads from each phase where the table says', () => {
  for (const [name, [event, leads]] of Object.entries(table)) {
    it(name, () => {
      for (const phase of Object.values(LeasePhase)) {
        const story = reached[phase]()
        assert.equal(story.state.phase, phase)
        story.tell(event)
        assert.equal(story.state.phase, leads[phase] ?? phase, `${name} in ${phase}`)
      }
    })
  }

  it('and a repeat of it does nothing more', () => {
    for (const [name, [event]] of Object.entries(table)) {
      // These events are answered each time they come, and each packet of a peer counts as a new one.
      if (/^(open|patientOpen|hello|drain|standBy|suspend|leavePermit|peers)/.test(name)) continue
      for (const phase of Object.values(LeasePhase)) {
        const story = reached[phase]()
        story.tell(event)
        const { state } = story
        const again = story.tell(event)
        assert.deepEqual([name, phase, again, story.state], [name, phase, [], state])
      }
    }
  })
})
