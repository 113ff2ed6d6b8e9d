import { strict as assert } from 'node:assert'
import { decide, Refusal } from '../../../src/domain/instance/lifecycle.ts'
import { effectsOf } from '../../../src/domain/instance/lifecycle-effects.ts'
import { Deletion, EventKind, Phase, phaseOf } from '../../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../../../src/domain/instance/lifecycle-state.ts'
import {
  absent,
  after,
  change,
  changeTaken,
  connectionsClosed,
  created,
  disabled,
  lost,
  drainingStop,
  exited,
  forcedStop,
  idle,
  onTraffic,
  refused as standByRefused,
  remove,
  removed,
  retiringStop,
  slept,
  start,
  started,
  startFailed,
  stop,
  suspend,
  tick,
  wakeFailed,
  waking,
} from './lifecycle-life.ts'

const sleepy = () => created({ scaleToZero: onTraffic })
const running = () => after(sleepy(), [0, start], [1, started(1, 1)])
/** Idle for the cooldown, or at a user's word: the host is ordered to stand by. */
const ordered = () => after(running(), [2, idle(1, 1)], [1_001, tick])
const asleep = () => after(ordered(), [1_002, slept(1, 1_002)])

/**
 * An instance in each phase, with boot 1 if it has had a boot. A name with an addition is another instance in
 * that phase, to which some events mean something else.
 */
const lives = {
  [Phase.Stopped]: after(created(), [0, start], [1, started(1, 1)], [2, exited(1, 2)]),
  [Phase.Starting]: after(created(), [0, start]),
  'starting by traffic': after(asleep(), [1_003, waking(2, 1_003)]),
  [Phase.Running]: running(),
  'running with an order out': ordered(),
  "running with a user's order out": after(running(), [2, suspend(500)]),
  [Phase.Draining]: after(running(), [2, drainingStop(1_000)]),
  [Phase.Stopping]: after(running(), [2, stop]),
  'stopping with an order out': after(ordered(), [1_002, stop]),
  'draining and retired': after(running(), [2, retiringStop(1_000)]),
  'stopping and retired': after(running(), [2, retiringStop(0)]),
  [Phase.Standby]: asleep(),
  'standby from the start': sleepy(),
  [Phase.Deleting]: after(running(), [2, remove]),
  [Phase.Deleted]: after(created(), [0, remove]),
} satisfies Record<Phase, Lifecycle> & Record<string, Lifecycle>

const events = {
  start: start,
  stop: stop,
  'stop with a drain': drainingStop(1_000),
  'stop by force': forcedStop,
  'stop that retires': retiringStop(1_000),
  suspend: suspend(500),
  delete: remove,
  started: started(1, 1),
  'start failed': startFailed(1, 'HostFull'),
  'start failed for good': startFailed(1, 'ImageUnusable'),
  exited: exited(1, 3),
  'host halted': exited(1, 3, { cause: 'host-halted' }),
  absent: absent(1),
  removed: removed,
  'connections closed': connectionsClosed,
  'time passed': tick,
  idle: idle(1, 2),
  waking: waking(2, 1_004),
  'permit started': started(2, 1_004),
  'permit exited': exited(2, 1_004),
  'permit started too early': started(3, 1_004),
  'wake failed': wakeFailed(2),
  disabled: disabled(1),
  lost: lost(1),
  slept: slept(1, 1_003),
  'slept at once': slept(0, 1_003),
  'standby refused': standByRefused(1),
  change: change(1),
  'change with a restart': change(1, { renewBelow: 1 }),
  'change taken': changeTaken(1),
} satisfies Record<string, LifecycleEvent>

type Row = Record<keyof typeof events, Phase | 'refused' | 'same'>

const allSame: Row = {
  start: 'same',
  stop: 'same',
  'stop with a drain': 'same',
  'stop by force': 'same',
  'stop that retires': 'same',
  suspend: 'same',
  delete: 'same',
  started: 'same',
  'start failed': 'same',
  'start failed for good': 'same',
  exited: 'same',
  'host halted': 'same',
  absent: 'same',
  removed: 'same',
  'connections closed': 'same',
  'time passed': 'same',
  idle: 'same',
  waking: 'same',
  'permit started': 'same',
  'permit exited': 'same',
  'permit started too early': 'same',
  'wake failed': 'same',
  disabled: 'same',
  lost: 'same',
  slept: 'same',
  'slept at once': 'same',
  'standby refused': 'same',
  change: 'same',
  'change with a restart': 'same',
  'change taken': 'same',
}
const refused = {
  start: 'refused',
  stop: 'refused',
  'stop with a drain': 'refused',
  'stop by force': 'refused',
  'stop that retires': 'refused',
  suspend: 'refused',
  change: 'refused',
  'change with a restart': 'refused',
} as const

const anyStop = (to: Phase) => ({
  stop: to,
  'stop with a drain': to,
  'stop by force': to,
  'stop that retires': to,
})

/** A change of the configuration is noted in any phase. */
const changed = (to: Phase, renewed = to) => ({ change: to, 'change with a restart': renewed })

/** The phase to which each event leads from each phase. `same` means that no field of the life changes. */
const expected: Record<keyof typeof lives, Row> = {
  [Phase.Stopped]: {
    ...allSame,
    ...changed(Phase.Stopped),
    start: Phase.Starting,
    'stop that retires': Phase.Deleting,
    delete: Phase.Deleting,
    disabled: Phase.Stopped,
  },
  [Phase.Standby]: {
    ...allSame,
    ...changed(Phase.Standby),
    ...anyStop(Phase.Stopping),
    start: Phase.Starting,
    delete: Phase.Deleting,
    idle: Phase.Standby,
    waking: Phase.Starting,
    'permit started': Phase.Running,
    'permit exited': Phase.Stopped,
    'wake failed': Phase.Standby,
    disabled: Phase.Standby,
    lost: Phase.Standby,
  },
  'standby from the start': {
    ...allSame,
    ...changed(Phase.Standby),
    ...anyStop(Phase.Stopping),
    start: Phase.Starting,
    delete: Phase.Deleting,
    started: Phase.Running,
    exited: Phase.Stopped,
    'host halted': Phase.Starting,
    idle: Phase.Starting,
    disabled: Phase.Standby,
    'slept at once': Phase.Standby,
  },
  [Phase.Starting]: {
    ...allSame,
    ...changed(Phase.Starting),
    ...anyStop(Phase.Stopping),
    suspend: Phase.Starting,
    delete: Phase.Deleting,
    started: Phase.Running,
    'start failed': Phase.Starting,
    'start failed for good': Phase.Stopped,
    exited: Phase.Stopped,
    'host halted': Phase.Starting,
    disabled: Phase.Starting,
    // A workflow that was lost had given the order for this sleep.
    slept: Phase.Standby,
  },
  'starting by traffic': {
    ...allSame,
    ...changed(Phase.Starting),
    ...anyStop(Phase.Stopping),
    start: Phase.Starting,
    suspend: Phase.Starting,
    delete: Phase.Deleting,
    'permit started': Phase.Running,
    'permit exited': Phase.Stopped,
    'wake failed': Phase.Standby,
  },
  [Phase.Running]: {
    ...allSame,
    ...changed(Phase.Running, Phase.Stopping),
    ...anyStop(Phase.Stopping),
    'stop with a drain': Phase.Draining,
    'stop that retires': Phase.Draining,
    suspend: Phase.Running,
    delete: Phase.Deleting,
    exited: Phase.Stopped,
    'host halted': Phase.Starting,
    idle: Phase.Running,
    disabled: Phase.Running,
    lost: Phase.Stopped,
    // A workflow that was lost had given the order for this sleep.
    slept: Phase.Standby,
  },
  "running with a user's order out": {
    ...allSame,
    ...changed(Phase.Running, Phase.Stopping),
    ...anyStop(Phase.Stopping),
    start: Phase.Running,
    delete: Phase.Deleting,
    exited: Phase.Stopped,
    'host halted': Phase.Starting,
    idle: Phase.Running,
    waking: Phase.Starting,
    'permit started': Phase.Running,
    'permit exited': Phase.Stopped,
    'wake failed': Phase.Running,
    disabled: Phase.Running,
    lost: Phase.Stopped,
    slept: Phase.Standby,
  },
  'running with an order out': {
    ...allSame,
    ...changed(Phase.Running, Phase.Stopping),
    ...anyStop(Phase.Stopping),
    suspend: Phase.Running,
    delete: Phase.Deleting,
    exited: Phase.Stopped,
    'host halted': Phase.Starting,
    idle: Phase.Running,
    waking: Phase.Starting,
    'permit started': Phase.Running,
    'permit exited': Phase.Stopped,
    'wake failed': Phase.Running,
    disabled: Phase.Running,
    lost: Phase.Stopped,
    slept: Phase.Standby,
    'standby refused': Phase.Running,
  },
  [Phase.Draining]: {
    ...allSame,
    ...changed(Phase.Draining),
    start: Phase.Running,
    stop: Phase.Stopping,
    'stop by force': Phase.Stopping,
    'stop that retires': Phase.Draining,
    delete: Phase.Deleting,
    exited: Phase.Stopped,
    'host halted': Phase.Stopped,
    'connections closed': Phase.Stopping,
    disabled: Phase.Draining,
  },
  'draining and retired': {
    ...allSame,
    ...changed(Phase.Draining),
    start: 'refused',
    stop: Phase.Stopping,
    'stop by force': Phase.Stopping,
    delete: Phase.Deleting,
    exited: Phase.Deleting,
    'host halted': Phase.Deleting,
    'connections closed': Phase.Stopping,
    disabled: Phase.Draining,
  },
  'stopping and retired': {
    ...allSame,
    ...changed(Phase.Stopping),
    start: 'refused',
    'stop by force': Phase.Stopping,
    delete: Phase.Deleting,
    exited: Phase.Deleting,
    'host halted': Phase.Deleting,
    absent: Phase.Deleting,
  },
  [Phase.Stopping]: {
    ...allSame,
    ...changed(Phase.Stopping),
    start: Phase.Stopping,
    'stop by force': Phase.Stopping,
    'stop that retires': Phase.Stopping,
    delete: Phase.Deleting,
    exited: Phase.Stopped,
    'host halted': Phase.Stopped,
    absent: Phase.Stopped,
  },
  'stopping with an order out': {
    ...allSame,
    ...changed(Phase.Stopping),
    start: Phase.Stopping,
    'stop by force': Phase.Stopping,
    'stop that retires': Phase.Stopping,
    delete: Phase.Deleting,
    exited: Phase.Stopping,
    'host halted': Phase.Stopping,
    'permit started': Phase.Stopping,
    'permit exited': Phase.Stopped,
    slept: Phase.Stopping,
  },
  [Phase.Deleting]: { ...allSame, ...refused, removed: Phase.Deleted },
  [Phase.Deleted]: { ...allSame, ...refused },
}
const names = Object.keys(lives) as (keyof typeof lives)[]

describe('the table of the lifecycle', () => {
  for (const phase of names) {
    for (const [name, event] of Object.entries(events)) {
      const outcome = expected[phase][name as keyof typeof events]
      it(`${phase}, ${name}: ${outcome}`, () => {
        const life = lives[phase]
        const decision = decide(life, event, 3)
        if (outcome === 'refused') {
          assert.deepEqual(decision, { accepted: false, refusal: Refusal.Deleted })
          return
        }
        assert.ok(decision.accepted)
        if (outcome === 'same') assert.deepEqual(plain(decision.life), plain(life))
        else assert.equal(phaseOf(decision.life), outcome)
        if (outcome !== 'same') assert.notDeepEqual(plain(decision.life), plain(life))
      })
    }
  }

  it('every event has been decided for every phase', () => {
    const kinds = new Set(Object.values(events).map(({ kind }) => kind))
    assert.deepEqual([...kinds].toSorted(), Object.values(EventKind).toSorted())
  })
})

describe('what has to go on in each phase', () => {
  const work = (phase: keyof typeof lives): string => effectsOf(lives[phase]).hostWork?.kind ?? 'nothing'

  it('the host starts, stops, drains, sends to standby and removes; else it is left alone', () => {
    const wanted = Object.fromEntries(names.map((phase) => [phase, work(phase)]))
    assert.deepEqual(wanted, {
      stopped: 'nothing',
      starting: 'start',
      'starting by traffic': 'nothing',
      running: 'nothing',
      'running with an order out': 'stand-by',
      "running with a user's order out": 'stand-by',
      draining: 'drain',
      'draining and retired': 'drain',
      stopping: 'stop',
      'stopping and retired': 'stop',
      'stopping with an order out': 'stop',
      standby: 'nothing',
      'standby from the start': 'stand-by',
      deleting: 'remove',
      deleted: 'nothing',
    })
  })

  it('the row goes when the host is clean and not before', () => {
    const rows = names.filter((phase) => effectsOf(lives[phase]).deleteRow)
    assert.deepEqual(rows, [Phase.Deleted])
  })

  it('readers no longer find an instance that deletes itself, such as a retired one', () => {
    const hidden = (life: Lifecycle) => effectsOf(life).hideRow
    assert.equal(hidden(after(lives['stopping and retired'], [3, absent(1)])), true)
    assert.equal(hidden(lives['stopping and retired']), false)
    assert.equal(hidden(after(lives.stopped, [3, retiringStop(1_000)])), true)
    assert.equal(hidden(lives.deleting), false)
  })

  it('an instance that no host was ever asked for is deleted without its host', () => {
    assert.equal(after(created(), [0, remove]).deletion, Deletion.Done)
    assert.equal(after(created(), [0, start], [1, remove]).deletion, Deletion.Wanted)
  })
})

/** The life as a workflow has it after a continue-as-new. */
function plain(life: Lifecycle): unknown {
  return JSON.parse(JSON.stringify(life))
}
