import { strict as assert } from 'node:assert'
import { StandByRefusal } from '../../../src/domain/instance/host-work.ts'
import { effectsOf } from '../../../src/domain/instance/lifecycle-effects.ts'
import { isMoving } from '../../../src/domain/instance/lifecycle-move.ts'
import { EventKind } from '../../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../../../src/domain/instance/lifecycle-state.ts'
import { projectionOf } from '../../../src/domain/instance/lifecycle-projection.ts'
import { newLifecycle } from '../../../src/domain/instance/lifecycle.ts'
import { newsOf } from '../../../src/domain/instance/news.ts'
import { moveSentence } from '../../../src/domain/instance/move-words.ts'
import {
  asleepWithMemory as asleep,
  after,
  change,
  copied,
  copyTo,
  drainingStop,
  exited,
  fetched,
  forcedStop,
  held,
  hostLost,
  idle,
  movedVolume as volume,
  movePlace,
  moved,
  moveTo,
  onTraffic,
  refused,
  released,
  remove,
  runningOnTraffic as running,
  slept,
  started,
  tick,
} from './lifecycle-life.ts'

const [h1, h2] = [movePlace('h1'), movePlace('h2')]
const work = (life: Lifecycle) => effectsOf(life).hostWork
const copyWork = (life: Lifecycle) => effectsOf(life).copyWork
const step = (life: Lifecycle) => life.move?.step

describe('an instance that moves, and runs with a volume', () => {
  const copying = after(running(), [5, copyTo()])
  const stay: LifecycleEvent = { kind: EventKind.Move, from: h1, to: h1 }
  const release = { kind: 'release', atMs: 5 }

  it('is copied while it runs, and is held when the copy follows it', () => {
    assert.deepEqual([step(copying), work(copying)], ['copy', undefined])
    assert.deepEqual(copyWork(copying), { kind: 'copy', atMs: 5, runs: 1, from: h1, to: h2, volume })
    const ordered = after(copying, [9, copied(5)])
    assert.deepEqual([ordered.order?.hold, ordered.order?.volume, copyWork(ordered)], [h2, volume, undefined])
    const held1 = after(ordered, [10, slept(1, 10, 'memory')])
    assert.deepEqual([step(held1), held1.offer, held1.move?.volume], ['hold', undefined, volume])
  })

  it('is copied once: it is held with a longer pause if it could not be copied', () => {
    const ordered = after(copying, [9, copied(5, 1, 'no room')])
    assert.deepEqual(ordered.order?.hold, h2)
    assert.match(moveSentence(projectionOf(ordered).move!) ?? '', /could not be copied .* because no room/)
    const held1 = after(ordered, [10, slept(1, 10, 'memory')], [11, held(5)])
    assert.match(moveSentence(projectionOf(held1).move!) ?? '', /what it has is fetched.*because no room/)
    const writing = after(held1, [12, fetched(5)])
    const [told] = newsOf(writing, moved(), after(writing, [13, moved()]))
    assert.match(told?.why ?? '', /; its volume could not be copied while it ran, because no room$/)
    // The answer to a copy of an earlier boot, or of another move, is no answer to this one.
    for (const late of [copied(5, 2), copied(4)]) assert.equal(after(copying, [9, late]), copying)
  })

  it('goes on with what else is to be done meanwhile, and is held when no order is out', () => {
    const idling = after(copying, [6, idle(1, 6)], [1_006, tick])
    assert.deepEqual([work(idling)?.kind, copyWork(idling)?.kind], ['stand-by', 'copy'])
    const both = after(idling, [1_007, copied(5)])
    assert.deepEqual([both.order?.hold, step(both)], [undefined, 'wanted'])
    assert.equal(step(after(both, [1_008, slept(1, 1_008)])), 'hold')
    const refusal = refused(1, 1, StandByRefusal.Busy)
    assert.deepEqual(after(both, [1_008, refusal]).order?.hold, h2)
    const changed = after(copying, [6, change(1, { scaleToZero: onTraffic })])
    assert.deepEqual([work(changed)?.kind, copyWork(changed)?.kind], ['change', 'copy'])
  })

  it('does not wait for the copy if it falls asleep or ends, and is not copied again if it runs again', () => {
    const fellAsleep = after(copying, [6, idle(1, 6)], [1_006, tick], [1_007, slept(1, 1_007)])
    assert.deepEqual(
      [step(fellAsleep), copyWork(fellAsleep), fellAsleep.offer],
      ['hold', undefined, undefined],
    )
    const ended = after(copying, [6, exited(1, 6)])
    assert.deepEqual([step(ended), copyWork(ended), ended.offer], ['hold', undefined, undefined])
    const again = after(copying, [6, exited(1, 6, { cause: 'host-halted' })])
    assert.deepEqual([again.state, step(again), copyWork(again)], ['starting', 'wanted', undefined])
    const up = after(again, [7, started(2, 7)])
    assert.deepEqual([copyWork(up), up.order?.hold], [undefined, h2])
    assert.equal(after(up, [8, copied(5, 1)]), up)
    // Its host had put it to sleep and woken it again before it could tell.
    const woken = after(copying, [6, idle(1, 6)], [1_006, tick], [1_007, started(2, 1_007)])
    assert.deepEqual([woken.state, copyWork(woken), woken.order?.hold], ['running', undefined, h2])
  })

  it('is copied at once if traffic woke it before it was held', () => {
    const holding = after(asleep(), [2_000, copyTo()])
    const woken = after(holding, [2_001, started(2, 2_001)])
    assert.deepEqual([step(holding), copyWork(woken)?.kind, work(woken)], ['hold', 'copy', undefined])
  })

  it('goes where it was asked to last, or stays, and its old host is told that its offer is over', () => {
    assert.equal(isMoving(copying), false)
    assert.equal(after(copying, [6, copyTo()]), copying)
    const back = after(copying, [6, stay])
    assert.deepEqual([back.move, back.moveFailure, copyWork(back)], [undefined, undefined, release])
    assert.equal(copyWork(after(back, [7, released(5)])), undefined)
    const elsewhere = after(copying, [6, copyTo('h3')])
    assert.deepEqual([step(elsewhere), copyWork(elsewhere)], ['wanted', release])
    // A late answer of the old host would end the hold of another move.
    const asleep1 = after(back, [7, idle(1, 7)], [1_007, tick], [1_008, slept(1, 1_008)], [1_009, moveTo()])
    assert.deepEqual([step(asleep1), step(after(asleep1, [1_010, released(5)]))], ['wanted', 'hold'])
    const anew = after(elsewhere, [7, released(5)])
    assert.deepEqual([step(anew), copyWork(anew)?.kind, anew.move?.to.nodeId], ['copy', 'copy', 'h3'])
  })

  it('stays if it is stopped, retired or can not sleep, and its old host is told', () => {
    const refusal = after(copying, [6, copied(5)], [7, refused(1, 5, StandByRefusal.Programs)])
    for (const life of [after(copying, [6, forcedStop]), after(copying, [6, drainingStop(60_000)]), refusal])
      assert.deepEqual(
        [life.move, copyWork(life), life.moveFailure === undefined],
        [undefined, release, false],
      )
    assert.equal(refusal.state, 'running')
  })

  it('asks no host for anything of the copy if it is deleted or its host is lost', () => {
    for (const life of [after(copying, [6, remove]), after(copying, [6, hostLost()])])
      assert.deepEqual([life.move, life.offer, copyWork(life)], [undefined, undefined, undefined])
    const waits = after(copying, [6, hostLost(true)])
    assert.deepEqual([waits.state, step(waits), copyWork(waits)], ['starting', 'wanted', undefined])
  })

  it('is not copied if the move began before that existed, nor if there is no volume', () => {
    assert.deepEqual(after(running(), [5, moveTo('h2', volume)]).order?.hold, h2)
    const without = { ...moveTo(), copies: true } as LifecycleEvent
    assert.deepEqual(after(running(), [5, without]).order?.hold, h2)
    assert.equal(step(after(asleep(), [2_000, copyTo()])), 'hold')
  })

  it('is told of as moving in a step that only a later version knows', () => {
    const later = { ...projectionOf(copying).move!, step: 'leap' as never }
    assert.match(moveSentence(later) ?? '', /^it is moving from host h1 to host h2: it is under way, since /)
  })

  it('is offered no longer if its workflow was lost', () => {
    const { revision } = copying
    const shown = { revision, projection: projectionOf(copying) }
    const life = newLifecycle({ autostart: false, deleteOnStop: false, restartPolicy: 'never' }, shown)
    assert.deepEqual([life.move, copyWork(life)?.kind, work(life)?.kind], [undefined, 'release', 'start'])
  })
})
