import { strict as assert } from 'node:assert'
import { StandByRefusal } from '../../../src/domain/instance/host-work.ts'
import { effectsOf } from '../../../src/domain/instance/lifecycle-effects.ts'
import { Deletion, EventKind } from '../../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../../../src/domain/instance/lifecycle-state.ts'
import { projectionOf } from '../../../src/domain/instance/lifecycle-projection.ts'
import { newLifecycle } from '../../../src/domain/instance/lifecycle.ts'
import { newsOf } from '../../../src/domain/instance/news.ts'
import {
  absent,
  asleepWithMemory as asleep,
  after,
  change,
  created,
  drainingStop,
  exited,
  fetched,
  forcedStop,
  held,
  hostLost,
  idle,
  moveFailed,
  moved,
  movedVolume as volume,
  movePlace,
  moveTo,
  onTraffic,
  refused,
  released,
  remove,
  runningOnTraffic as running,
  slept,
  start,
  started,
  startFailed,
  suspend,
  taken,
  tick,
  waking,
} from './lifecycle-life.ts'

const [h1, h2] = [movePlace('h1'), movePlace('h2')]
const stopped = () => after(created(), [0, start], [1, started(1, 1)], [2, exited(1, 2)])
const work = (life: Lifecycle) => effectsOf(life).hostWork
const step = (life: Lifecycle) => life.move?.step
/** The move of an instance that sleeps, asked for at 2000. */
const moving = () => after(asleep(), [2_000, moveTo()])
const inRow = () => after(moving(), [2_001, held(2_000)], [2_002, fetched(2_000)])

describe('an instance that moves to another host', () => {
  it('sleeps and is held at once if it runs, and starts at the new host as the boot of its permit', () => {
    const ordered = after(running(), [5, moveTo()])
    assert.deepEqual(work(ordered), {
      kind: 'stand-by',
      boot: 1,
      epoch: 5,
      permit: 2,
      stateful: true,
      graceMs: 10_000,
      drainMs: 0,
      hold: h2,
    })
    const held1 = after(ordered, [6, slept(1, 6, 'memory')])
    assert.deepEqual([held1.state, held1.startOrigin, held1.boot], ['starting', 'platform', 2])
    assert.deepEqual(work(held1), { kind: 'hold', atMs: 5, held: 1, permit: 2, to: h2 })
    const fetching = after(held1, [7, held(5)])
    const from = { ...h1, port: 40_000 }
    assert.deepEqual(work(fetching), { kind: 'fetch', atMs: 5, held: 1, permit: 2, from, at: 'h2' })
    const writing = after(fetching, [8, fetched(5)])
    assert.deepEqual([work(writing), effectsOf(writing).moveRow?.to], [undefined, h2])
    const there = after(writing, [9, moved()])
    assert.deepEqual([there.nodeId, step(there), work(there)], ['h2', undefined, { kind: 'start', boot: 2 }])
    const up = after(there, [10, started(2, 10)])
    assert.deepEqual([up.state, up.startCount, up.uptimeMs], ['running', 2, 5])
  })

  it('sleeps on at the new host, which takes it, with the permit and the memory', () => {
    const there = after(inRow(), [2_003, moved()])
    assert.deepEqual(work(there), { kind: 'take', atMs: 2_000 })
    const over = after(there, [2_004, taken(2_000)])
    assert.deepEqual([over.state, over.permit, over.sleep?.snapshotUuid], ['standby', 2, 'memory'])
    assert.deepEqual([over.move, work(over), projectionOf(over).move], [undefined, undefined, undefined])
    assert.equal(after(over, [2_005, waking(2, 2_005)]).state, 'starting')
  })

  it('says that its memory did not go with it', () => {
    const there = after(
      moving(),
      [2_001, held(2_000)],
      [2_002, fetched(2_000, 'its processor is another one')],
      [2_003, moved()],
    )
    assert.equal(there.sleep?.snapshotUuid, undefined)
    assert.match(there.failure ?? '', /because its processor is another one: the next wake starts/)
  })

  it('is fetched without a permit if it is stopped, and only changes its row if it never ran', () => {
    const holding = after(stopped(), [5, moveTo()])
    assert.deepEqual(work(holding), { kind: 'hold', atMs: 5, held: 1, to: h2 })
    const there = after(holding, [6, held(5)], [7, fetched(5)], [8, moved()], [9, taken(5)])
    assert.deepEqual([there.state, there.nodeId, there.move], ['stopped', 'h2', undefined])
    const fresh = after(created(), [5, moveTo()])
    assert.deepEqual([step(fresh), work(fresh)], ['row', undefined])
    assert.deepEqual(after(fresh, [6, moved()]).move, undefined)
  })

  it('is held, fetched and written with its volume, also if it never ran', () => {
    const ordered = after(running(), [5, moveTo('h2', volume)])
    assert.deepEqual([ordered.order?.hold, ordered.order?.volume], [h2, volume])
    const fresh = after(created(), [5, moveTo('h2', volume)])
    assert.deepEqual(work(fresh), { kind: 'hold', atMs: 5, held: 0, to: h2, volume })
    const fetching = after(fresh, [6, held(5)])
    const from = { ...h1, port: 40_000 }
    assert.deepEqual(work(fetching), { kind: 'fetch', atMs: 5, held: 0, from, volume, at: 'h2' })
    const writing = after(fetching, [7, fetched(5)])
    assert.deepEqual(effectsOf(writing).moveRow?.volume, volume)
    assert.deepEqual(work(after(writing, [8, moved()])), { kind: 'take', atMs: 5 })
    assert.deepEqual(work(after(writing, [8, moveFailed(5)])), { kind: 'release', atMs: 5 })
    assert.equal(work(after(fetching, [7, remove]))?.kind, 'remove', 'its old host holds it')
  })

  it('waits for its old host with a volume if that is lost before the row was written', () => {
    const fetching = after(asleep(), [2_000, moveTo('h2', volume)], [2_001, held(2_000)])
    const lost = after(fetching, [2_002, hostLost(true)])
    assert.deepEqual([effectsOf(lost).place, work(lost)?.kind], [undefined, 'fetch'])
    const failed = after(lost, [2_003, moveFailed(2_000)])
    assert.deepEqual([work(failed), failed.nodeId], [{ kind: 'release', atMs: 2_000 }, undefined])
  })

  it('waits while it starts, drains or stops, and for the orders that are out', () => {
    const waits = [
      after(created(), [0, start], [1, moveTo()]),
      after(running(), [2, drainingStop(60_000)], [3, moveTo()]),
      after(running(), [2, forcedStop], [3, moveTo()]),
      after(running(), [2, idle(1, 1)], [1_001, tick], [1_002, moveTo()]),
      after(created({ scaleToZero: onTraffic }), [1, moveTo()]),
    ]
    for (const life of waits) assert.equal(step(life), 'wanted')
    assert.equal(step(after(waits[2]!, [4, absent(1)])), 'hold')
    assert.equal(step(after(waits[3]!, [1_003, slept(1, 1_003)])), 'hold')
    assert.deepEqual(after(waits[0]!, [2, started(1, 2)]).order?.hold, h2)
    assert.equal(step(after(waits[4]!, [2, slept(0, 2)])), 'hold')
    const suspending = after(running(), [2, suspend(500)], [3, moveTo()])
    assert.equal(suspending.order?.hold, undefined)
    const suspended = after(suspending, [4, slept(1, 4, 'memory')])
    assert.deepEqual([suspended.state, step(suspended)], ['standby', 'hold'])
  })

  it('sleeps on if its user sends it to standby while it is held', () => {
    const life = after(running(), [5, moveTo()], [6, suspend(500)], [7, slept(1, 7, 'memory')])
    assert.deepEqual([life.state, life.sleep?.suspended, step(life)], ['standby', true, 'hold'])
  })

  it('runs on with a sentence if it can not sleep', () => {
    const life = after(running(), [5, moveTo()], [6, refused(1, 5, StandByRefusal.NoRoom)])
    assert.deepEqual([life.state, life.move, work(life)], ['running', undefined, undefined])
    assert.match(life.moveFailure?.why ?? '', /the disk of its host has no room/)
  })

  it('starts at the host that it has when the move is over, if a start comes meanwhile', () => {
    const starting = after(moving(), [2_001, start], [2_002, held(2_000)])
    assert.deepEqual([starting.state, work(starting)?.kind], ['starting', 'fetch'])
    const there = after(starting, [2_003, fetched(2_000)], [2_004, moved()])
    assert.deepEqual(work(there), { kind: 'start', boot: 2 })
    const back = after(starting, [2_003, moveFailed(2_000)])
    assert.deepEqual([back.nodeId, work(back)], [undefined, { kind: 'start', boot: 2 }])
  })

  it('is released if it can not be fetched, and sleeps on or starts again where it is', () => {
    const failed = after(moving(), [2_001, held(2_000)], [2_002, moveFailed(2_000)])
    assert.deepEqual(work(failed), { kind: 'release', atMs: 2_000 })
    const over = after(failed, [2_003, released(2_000)])
    assert.deepEqual([over.state, over.permit, over.move], ['standby', 2, undefined])
    assert.equal(projectionOf(over).move?.failure, 'no way')
    const ran = after(running(), [5, moveTo()], [6, slept(1, 6, 'm')], [7, held(5)], [8, moveFailed(5)])
    assert.deepEqual([ran.move, work(ran)], [undefined, { kind: 'start', boot: 2 }])
    const lateRow = after(inRow(), [2_003, moveFailed(2_000)])
    assert.equal(work(lateRow)?.kind, 'release')
  })

  it('moves later if traffic woke it before it was held', () => {
    const woken = after(moving(), [2_001, waking(2, 2_001)])
    assert.equal(step(woken), 'wanted')
    assert.deepEqual(after(woken, [2_002, started(2, 2_002)]).order?.hold, h2)
    // The same report comes too late once it is held.
    const late = after(moving(), [2_001, held(2_000)])
    assert.equal(after(late, [2_002, waking(2, 1_999)]), late)
  })

  it('stops and is deleted at the host that its row names', () => {
    const before = after(moving(), [2_001, held(2_000)], [2_002, forcedStop])
    assert.deepEqual([work(before)?.kind, before.move], ['stop', undefined])
    const during = after(inRow(), [2_003, forcedStop])
    assert.deepEqual([during.state, work(during)], ['stopping', undefined])
    const there = after(during, [2_004, moved()])
    assert.deepEqual([there.nodeId, work(there)?.kind, there.move], ['h2', 'stop', undefined])
    const notThere = after(during, [2_004, moveFailed(2_000)])
    assert.deepEqual([notThere.nodeId, work(notThere)?.kind], [undefined, 'stop'])
    const deleted = after(inRow(), [2_003, remove])
    assert.equal(work(deleted), undefined)
    assert.deepEqual(
      [after(deleted, [2_004, moved()])].map((life) => [life.nodeId, work(life)?.kind]),
      [['h2', 'remove']],
    )
    const fresh = after(created(), [5, moveTo()], [6, remove])
    assert.deepEqual([fresh.deletion, effectsOf(fresh).deleteRow], [Deletion.Done, true])
  })

  it('does not move if its old host is lost, unless the row is being written', () => {
    const lost = after(moving(), [2_001, held(2_000)], [2_002, hostLost()])
    assert.deepEqual([effectsOf(lost).place, lost.move], [true, undefined])
    assert.equal(lost.moveFailure?.why, 'its host h1 was lost')
    const writing = inRow()
    assert.equal(after(writing, [2_003, hostLost()]), writing)
    const there = after(writing, [2_003, moved()], [2_004, hostLost(false, 1, 'h2')])
    assert.deepEqual([effectsOf(there).place, there.move, there.moveFailure], [true, undefined, undefined])
  })

  it('goes where it was asked to last, until it is held', () => {
    const waiting = after(created(), [0, start], [1, moveTo('h2')], [2, moveTo('h3')])
    assert.equal(waiting.move?.to.nodeId, 'h3')
    const ordered = after(running(), [5, moveTo('h2')])
    assert.equal(after(ordered, [6, moveTo('h3')]), ordered)
    assert.equal(after(ordered, [6, moveTo('h2')]), ordered)
  })

  it('stays if it is asked to move to its own host while it waits, and moves on once it is held', () => {
    const stay: LifecycleEvent = { kind: EventKind.Move, from: h1, to: h1 }
    const waiting = after(created(), [0, start], [1, moveTo('h2')])
    assert.equal(after(waiting, [2, stay]).move, undefined)
    const up = after(waiting, [2, stay], [3, started(1, 3)])
    assert.deepEqual([up.state, work(up)], ['running', undefined])
    const ordered = after(running(), [5, moveTo('h2')])
    assert.equal(after(ordered, [6, stay]), ordered)
  })

  it('is told of a change at the host that it has after the move', () => {
    const changed = after(inRow(), [2_003, change(1, { renewBelow: 1 })])
    assert.equal(work(changed), undefined)
    const there = after(changed, [2_004, moved()], [2_005, taken(2_000)])
    assert.deepEqual([there.nodeId, work(there)?.kind], ['h2', 'change'])
  })

  it('starts a restart that is due at the host that it has after the move', () => {
    const waiting = after(
      created({ restartPolicy: 'always' }),
      [0, start],
      [1, started(1, 1)],
      [2, exited(1, 2)],
      [3, started(2, 3)],
      [4, exited(2, 4)],
      [5, moveTo()],
    )
    const { restartAtMs = 0 } = waiting
    const due = after(waiting, [6, held(5)], [restartAtMs, tick])
    assert.deepEqual([due.state, work(due)?.kind], ['starting', 'fetch'])
    const failing = after(due, [restartAtMs + 1, fetched(5)], [restartAtMs + 2, moved()])
    assert.deepEqual(work(failing), { kind: 'start', boot: 3 })
    assert.equal(after(failing, [restartAtMs + 3, startFailed(3, 'HostFull')]).state, 'starting')
  })

  it('is freed where the row says if its workflow was lost', () => {
    const shown = (life: Lifecycle, nodeId: string) =>
      newLifecycle(
        { autostart: false, deleteOnStop: false, restartPolicy: 'never', nodeId },
        { revision: life.revision, projection: projectionOf(life) },
      )
    assert.equal(step(shown(inRow(), 'h1')), 'release')
    assert.equal(step(shown(inRow(), 'h2')), 'take')
    assert.equal(step(shown(asleep(), 'h1')), undefined)
  })

  it('is told of its user, whether it moved or not', () => {
    const told = (before: Lifecycle, event: LifecycleEvent) =>
      newsOf(before, event, after(before, [3_000, event])).map(({ kind, why }) => [kind, why])
    assert.deepEqual(told(inRow(), moved()), [
      ['instance.moved', 'it moved from host h1 to host h2, and keeps its address'],
    ])
    const fetching = after(moving(), [2_001, held(2_000)])
    assert.deepEqual(told(fetching, moveFailed(2_000)), [
      ['instance.move-failed', 'it did not move from host h1 to host h2: no way'],
    ])
    assert.deepEqual(told(after(running(), [5, moveTo()]), slept(1, 6, 'memory')), [
      ['instance.state', 'it moves to host h2, and starts again there'],
    ])
  })
})
