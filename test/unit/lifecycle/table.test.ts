import { strict as assert } from 'node:assert'
import { decide, Refusal } from '../../../src/domain/instance-lifecycle.ts'
import { effectsOf } from '../../../src/domain/lifecycle-effects.ts'
import { Deletion, EventKind, Phase, phaseOf } from '../../../src/domain/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../../../src/domain/lifecycle-state.ts'
import {
  absent,
  after,
  connectionsClosed,
  created,
  drainingStop,
  exited,
  forcedStop,
  remove,
  removed,
  start,
  started,
  startFailed,
  stop,
  tick,
} from './life.ts'

/** An instance of each phase, with boot 1 where it has one. */
const lives = {
  [Phase.Stopped]: after(created(), [0, start], [1, started(1, 1)], [2, exited(1, 2)]),
  [Phase.Starting]: after(created(), [0, start]),
  [Phase.Running]: after(created(), [0, start], [1, started(1, 1)]),
  [Phase.Draining]: after(created(), [0, start], [1, started(1, 1)], [2, drainingStop(1_000)]),
  [Phase.Stopping]: after(created(), [0, start], [1, started(1, 1)], [2, stop]),
  [Phase.Standby]: {
    ...after(created(), [0, start], [1, started(1, 1)], [2, exited(1, 2)]),
    state: Phase.Standby,
  },
  [Phase.Deleting]: after(created(), [0, start], [1, started(1, 1)], [2, remove]),
  [Phase.Deleted]: after(created(), [0, remove]),
} satisfies Record<Phase, Lifecycle>

const events = {
  start: start,
  stop: stop,
  'stop with a drain': drainingStop(1_000),
  'stop by force': forcedStop,
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
} satisfies Record<string, LifecycleEvent>

type Row = Record<keyof typeof events, Phase | 'refused' | 'same'>

const allSame: Row = {
  start: 'same',
  stop: 'same',
  'stop with a drain': 'same',
  'stop by force': 'same',
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
}
const refused = {
  start: 'refused',
  stop: 'refused',
  'stop with a drain': 'refused',
  'stop by force': 'refused',
} as const

/** What each pair leads to; `same` is the same lifecycle in every field, but for those named below. */
const expected: Record<Phase, Row> = {
  [Phase.Stopped]: { ...allSame, start: Phase.Starting, delete: Phase.Deleting },
  [Phase.Standby]: {
    ...allSame,
    start: Phase.Starting,
    stop: Phase.Stopped,
    'stop with a drain': Phase.Stopped,
    'stop by force': Phase.Stopped,
    delete: Phase.Deleting,
  },
  [Phase.Starting]: {
    ...allSame,
    stop: Phase.Stopping,
    'stop with a drain': Phase.Stopping,
    'stop by force': Phase.Stopping,
    delete: Phase.Deleting,
    started: Phase.Running,
    'start failed': Phase.Starting,
    'start failed for good': Phase.Stopped,
    exited: Phase.Stopped,
    'host halted': Phase.Starting,
  },
  [Phase.Running]: {
    ...allSame,
    stop: Phase.Stopping,
    'stop with a drain': Phase.Draining,
    'stop by force': Phase.Stopping,
    delete: Phase.Deleting,
    exited: Phase.Stopped,
    'host halted': Phase.Starting,
  },
  [Phase.Draining]: {
    ...allSame,
    start: Phase.Running,
    stop: Phase.Stopping,
    'stop by force': Phase.Stopping,
    delete: Phase.Deleting,
    exited: Phase.Stopped,
    'host halted': Phase.Stopped,
    'connections closed': Phase.Stopping,
  },
  [Phase.Stopping]: {
    ...allSame,
    start: Phase.Stopping,
    'stop by force': Phase.Stopping,
    delete: Phase.Deleting,
    exited: Phase.Stopped,
    'host halted': Phase.Stopped,
    absent: Phase.Stopped,
  },
  [Phase.Deleting]: { ...allSame, ...refused, removed: Phase.Deleted },
  [Phase.Deleted]: { ...allSame, ...refused },
}

describe('the table of the lifecycle', () => {
  for (const phase of Object.values(Phase)) {
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
    const kinds = new Set(Object.values(events).map((event) => event.kind))
    assert.deepEqual([...kinds].toSorted(), Object.values(EventKind).toSorted())
  })
})

describe('what has to go on in each phase', () => {
  const work = (phase: Phase): string => effectsOf(lives[phase]).hostWork?.kind ?? 'nothing'

  it('the host starts, stops and removes; in every other phase it is left alone', () => {
    const wanted = Object.fromEntries(Object.values(Phase).map((phase) => [phase, work(phase)]))
    assert.deepEqual(wanted, {
      stopped: 'nothing',
      starting: 'start',
      running: 'nothing',
      draining: 'nothing',
      stopping: 'stop',
      standby: 'nothing',
      deleting: 'remove',
      deleted: 'nothing',
    })
  })

  it('the row goes when the host is clean and not before', () => {
    const rows = Object.values(Phase).filter((phase) => effectsOf(lives[phase]).deleteRow)
    assert.deepEqual(rows, [Phase.Deleted])
  })

  it('an instance that no host was ever asked for is deleted without its host', () => {
    assert.equal(after(created(), [0, remove]).deletion, Deletion.Done)
    assert.equal(after(created(), [0, start], [1, remove]).deletion, Deletion.Wanted)
  })
})

/** As it is after a continue-as-new. */
function plain(life: Lifecycle): unknown {
  return JSON.parse(JSON.stringify(life))
}
