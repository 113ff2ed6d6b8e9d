import { strict as assert } from 'node:assert'
import { decide, Refusal } from '../../../src/domain/instance/lifecycle.ts'
import { effectsOf } from '../../../src/domain/instance/lifecycle-effects.ts'
import { Deletion, EventKind, Phase, phaseOf } from '../../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle } from '../../../src/domain/instance/lifecycle-state.ts'
import { absent, after, created, remove, retiringStop, start } from './lifecycle-life.ts'
import { events, lives } from './lifecycle-lives.ts'

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
  'host lost': 'same',
  'host lost with its volume': 'same',
  placed: 'same',
  move: 'same',
  copied: 'same',
  held: 'same',
  fetched: 'same',
  moved: 'same',
  taken: 'same',
  released: 'same',
  'move failed': 'same',
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
  move: 'refused',
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

/** The host is lost, without and with a volume there. */
const whenLost = (to: Phase, withVolume = to) => ({
  'host lost': to,
  'host lost with its volume': withVolume,
})

/** What an instance that is held does when it is told of something else than the move. */
const heldInStandby = {
  ...changed(Phase.Standby),
  ...anyStop(Phase.Stopping),
  start: Phase.Starting,
  delete: Phase.Deleting,
  idle: Phase.Standby,
  disabled: Phase.Standby,
  lost: Phase.Standby,
  'move failed': Phase.Standby,
} as const

/** What an instance that runs does when no order to stand by is out. */
const runs: Row = {
  ...allSame,
  move: Phase.Running,
  ...whenLost(Phase.Starting),
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
}

/** The phase to which each event leads from each phase. `same` means that no field of the life changes. */
const expected: Record<keyof typeof lives, Row> = {
  [Phase.Stopped]: {
    ...allSame,
    move: Phase.Stopped,
    ...whenLost(Phase.Stopped),
    ...changed(Phase.Stopped),
    start: Phase.Starting,
    'stop that retires': Phase.Deleting,
    delete: Phase.Deleting,
    disabled: Phase.Stopped,
  },
  [Phase.Standby]: {
    ...allSame,
    move: Phase.Standby,
    ...whenLost(Phase.Standby),
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
    move: Phase.Standby,
    ...whenLost(Phase.Standby),
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
  // What is told of a later boot than the one that slept is out of date.
  'standby and held': {
    ...allSame,
    ...heldInStandby,
    ...whenLost(Phase.Standby),
    fetched: Phase.Standby,
  },
  'standby, and its row is written': {
    ...allSame,
    ...heldInStandby,
    moved: Phase.Standby,
  },
  'starting and held': {
    ...allSame,
    ...whenLost(Phase.Starting),
    ...changed(Phase.Starting),
    ...anyStop(Phase.Stopping),
    suspend: Phase.Starting,
    delete: Phase.Deleting,
  },
  [Phase.Starting]: {
    ...allSame,
    move: Phase.Starting,
    ...whenLost(Phase.Starting),
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
    move: Phase.Starting,
    ...whenLost(Phase.Starting),
    ...changed(Phase.Starting),
    ...anyStop(Phase.Stopping),
    start: Phase.Starting,
    suspend: Phase.Starting,
    delete: Phase.Deleting,
    'permit started': Phase.Running,
    'permit exited': Phase.Stopped,
    'wake failed': Phase.Standby,
  },
  [Phase.Running]: runs,
  'running while its volume is copied': {
    ...runs,
    move: 'same',
    copied: Phase.Running,
  },
  'running with an offer that is over': { ...runs, released: Phase.Running },
  "running with a user's order out": {
    ...allSame,
    move: Phase.Running,
    ...whenLost(Phase.Starting),
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
    ...runs,
    ...anyStop(Phase.Stopping),
    waking: Phase.Starting,
    'permit started': Phase.Running,
    'permit exited': Phase.Stopped,
    'wake failed': Phase.Running,
    'standby refused': Phase.Running,
  },
  [Phase.Draining]: {
    ...allSame,
    move: Phase.Draining,
    ...whenLost(Phase.Stopped),
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
    move: 'refused',
    ...whenLost(Phase.Deleted, Phase.Deleting),
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
    move: 'refused',
    ...whenLost(Phase.Deleted, Phase.Deleting),
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
    move: Phase.Stopping,
    ...whenLost(Phase.Stopped),
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
    move: Phase.Stopping,
    ...whenLost(Phase.Stopped),
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
  [Phase.Deleting]: { ...allSame, ...refused, ...whenLost(Phase.Deleted), removed: Phase.Deleted },
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
      'running while its volume is copied': 'nothing',
      'running with an offer that is over': 'nothing',
      draining: 'drain',
      'draining and retired': 'drain',
      stopping: 'stop',
      'stopping and retired': 'stop',
      'stopping with an order out': 'stop',
      standby: 'nothing',
      'standby from the start': 'stand-by',
      'standby and held': 'fetch',
      'standby, and its row is written': 'nothing',
      'starting and held': 'fetch',
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
