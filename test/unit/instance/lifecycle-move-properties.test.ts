import { strict as assert } from 'node:assert'
import { decide } from '../../../src/domain/instance/lifecycle.ts'
import { effectsOf, HostWorkKind } from '../../../src/domain/instance/lifecycle-effects.ts'
import {
  EventKind,
  isWithHosts,
  MoveStep,
  Phase,
  phaseOf,
} from '../../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../../../src/domain/instance/lifecycle-state.ts'
import { absent, connectionsClosed, placed, released, slept, started, tick } from './lifecycle-life.ts'
import { answerTo, holds } from './lifecycle-stories.ts'

describe('whatever happens to an instance that moves', () => {
  holds(
    'while an instance is held, no host is asked to start it, and one that slept there only once',
    (step) => {
      const { before, after } = step
      const isHeld = after.move?.step === MoveStep.Fetch || after.move?.step === MoveStep.Row
      if (isHeld) assert.notEqual(effectsOf(after).hostWork?.kind, HostWorkKind.Start)
      // Only the write of the row, or the search for a host that is lost, leads to another host.
      if (before.nodeId === after.nodeId) return
      assert.ok(before.move?.step === MoveStep.Row || before.placing === true)
      assert.equal(effectsOf(before).hostWork, undefined)
    },
  )

  holds('a volume is copied while the boot that it was offered for runs, and at no other time', (step) => {
    const { after: life } = step
    const { copyWork, hostWork } = effectsOf(life)
    if (copyWork?.kind === HostWorkKind.Copy)
      assert.deepEqual([phaseOf(life), copyWork.runs], [Phase.Running, life.boot])
    else assert.notEqual(life.move?.step, MoveStep.Copy)
    const isForHold = hostWork?.kind === HostWorkKind.StandBy && hostWork.hold !== undefined
    const isHeld = life.move !== undefined && isWithHosts(life.move.step)
    // A late call would end the hold.
    if (isForHold || isHeld) assert.equal(copyWork, undefined)
  })

  holds(
    'what a host offers ends with the hold, or the host is asked to end it',
    ({ before, event, after }) => {
      const { copyWork, place, deleteRow } = effectsOf(after)
      if (after.offer !== undefined)
        return assert.ok(copyWork !== undefined || after.move?.atMs === after.offer.atMs, 'it is forgotten')
      if (before.offer === undefined) return
      const isHeld = after.move !== undefined && isWithHosts(after.move.step)
      const isGone = place === true || deleteRow || phaseOf(after) === Phase.Deleting
      assert.ok(isHeld || isGone || after.placing === true || event.kind === EventKind.Released)
    },
  )

  holds('a move ends as soon as what it waits for has come', ({ after, event }) => {
    // Of a deleted instance nothing is left to be done but its row.
    if (event.kind !== EventKind.Move || phaseOf(after) === Phase.Deleted) return
    for (const isDone of [true, false]) {
      let life = after
      for (let turn = 0; turn < 12 && life.move !== undefined; turn++) {
        const decision = decide(life, calmed(life, isDone), turn * 400_000)
        if (decision.accepted) ({ life } = decision)
      }
      assert.equal(life.move, undefined, `${life.state} ${life.move?.step}`)
    }
  })
})

/** What brings an instance that moves on: the host or the row answers, or time passes. */
function calmed(life: Lifecycle, isDone: boolean): LifecycleEvent {
  const { hostWork, copyWork, moveRow, place } = effectsOf(life)
  if (place === true) return placed('h3')
  if (moveRow !== undefined) return answerTo(life, isDone)
  if (copyWork?.kind === HostWorkKind.Release) return released(copyWork.atMs)
  if (copyWork !== undefined) return answerTo(life, isDone)
  if (hostWork === undefined) return tick
  if (hostWork.kind === HostWorkKind.Start) return started(life.boot, 0)
  if (hostWork.kind === HostWorkKind.Stop) return absent(life.boot)
  if (hostWork.kind === HostWorkKind.Drain) return connectionsClosed
  if (hostWork.kind !== HostWorkKind.StandBy) return answerTo(life, isDone)
  const { boot, permit } = hostWork
  return { ...slept(boot, 0, 'snapshot'), permit } as LifecycleEvent
}
