import { strict as assert } from 'node:assert'
import { effectsOf } from '../../../src/domain/instance/lifecycle-effects.ts'
import { Deletion } from '../../../src/domain/instance/lifecycle-state.ts'
import { lostMemory } from '../../../src/domain/instance/lifecycle-standby.ts'
import { newsOf } from '../../../src/domain/instance/news.ts'
import {
  after,
  change,
  created,
  drainingStop,
  exited,
  forcedStop,
  hostLost,
  idle,
  onTraffic,
  placed,
  remove,
  retiringStop,
  slept,
  start,
  started,
  startFailed,
  tick,
  waking,
} from './lifecycle-life.ts'

const running = () => after(created({ scaleToZero: onTraffic }), [0, start], [1, started(1, 1)])
const asleep = (snapshotUuid?: string) =>
  after(running(), [2, idle(1, 1)], [1_001, tick], [1_002, slept(1, 1_002, snapshotUuid)])

describe('an instance whose host is lost', () => {
  it('begins again at the next host, and nothing is asked of a host before that is known', () => {
    const searching = after(running(), [5, hostLost()])
    assert.deepEqual([searching.state, searching.uptimeMs], ['starting', 2])
    assert.deepEqual(effectsOf(searching), {
      place: true,
      wakeAtMs: undefined,
      hideRow: false,
      deleteRow: false,
    })
    const there = after(searching, [6, placed('h2')])
    assert.deepEqual([there.nodeId, effectsOf(there).hostWork], ['h2', { kind: 'start', boot: 2 }])
    assert.equal(after(there, [7, started(2, 7)]).state, 'running')
  })

  it('is told of its user, with the host', () => {
    const before = running()
    const [told] = newsOf(before, hostLost(), after(before, [5, hostLost()]))
    const [stays] = newsOf(before, hostLost(true), after(before, [5, hostLost(true)]))
    assert.equal(
      told?.why,
      'its host h1 is lost, and it gets another host; the platform starts it again, because it should run',
    )
    assert.equal(
      stays?.why,
      'its host h1 is lost, and it waits until h1 is back, because its volume is there; the platform starts it again, because it should run',
    )
  })

  it('waits for its host if its volume is there', () => {
    const waiting = after(running(), [5, hostLost(true)])
    assert.deepEqual(effectsOf(waiting).hostWork, { kind: 'start', boot: 2 })
    // The host reports the end of the boot when it is back.
    const back = after(waiting, [90, exited(1, 4, { cause: 'host-halted' })])
    assert.deepEqual([back.state, back.boot, back.startCount], ['starting', 2, 2])
    const sleeping = asleep('memory')
    assert.deepEqual(after(sleeping, [5_000, hostLost(true)]).sleep, sleeping.sleep)
  })

  it('sleeps on without its memory, with a permit that the lost host never had', () => {
    const cold = after(asleep(), [2_000, hostLost()], [2_001, placed('h2')])
    assert.deepEqual([cold.state, cold.failure], ['standby', undefined])
    const order = { boot: 2, epoch: 0, permit: 3 }
    assert.deepEqual(cold.order, order)
    const kept = after(asleep('memory'), [2_000, hostLost()], [2_001, placed('h2')])
    assert.deepEqual([kept.failure, kept.sleep?.snapshotUuid], [lostMemory, undefined])
    const there = after(kept, [2_002, slept(2, 2_002)], [2_003, waking(3, 2_003)], [2_004, started(3, 2_004)])
    assert.deepEqual([there.state, there.boot, there.startCount], ['running', 3, 2])
  })

  it('leaves out the boot with which its host may have woken it', () => {
    const wakes = after(
      asleep('memory'),
      [2_000, waking(2, 2_000)],
      [2_001, hostLost()],
      [2_002, placed('h2')],
    )
    assert.deepEqual(effectsOf(wakes).hostWork, { kind: 'start', boot: 3 })
    const ordered = after(
      running(),
      [2, idle(1, 1)],
      [1_001, tick],
      [1_002, hostLost()],
      [1_003, placed('h2')],
    )
    assert.deepEqual(effectsOf(ordered).hostWork, { kind: 'start', boot: 3 })
  })

  it('ends as it was asked to, or starts again if that was asked for', () => {
    assert.equal(after(running(), [2, drainingStop(60_000)], [5, hostLost()]).state, 'stopped')
    assert.equal(after(running(), [2, forcedStop], [5, hostLost()]).state, 'stopped')
    const restarting = after(running(), [2, forcedStop], [3, start], [5, hostLost()])
    assert.deepEqual([restarting.state, restarting.boot], ['starting', 2])
    const renewed = after(running(), [2, change(1, { renewBelow: 1 })], [5, hostLost()], [6, placed('h2')])
    assert.deepEqual(effectsOf(renewed).hostWork, { kind: 'start', boot: 2 })
  })

  it('is deleted without a host, during the search for another one and when the host should have removed it', () => {
    const searching = after(running(), [5, hostLost()])
    assert.equal(after(searching, [6, remove]).deletion, Deletion.Done)
    assert.equal(after(running(), [5, remove], [6, hostLost()]).deletion, Deletion.Done)
    const ephemeral = after(created({ deleteOnStop: true }), [0, start], [1, started(1, 1)])
    assert.equal(after(ephemeral, [2, forcedStop], [5, hostLost()]).deletion, Deletion.Done)
  })

  it('stops at once while another host is looked for, and is deleted at once if that retires it', () => {
    const searching = after(running(), [5, hostLost()])
    const stopped = after(searching, [6, forcedStop])
    assert.deepEqual([stopped.state, effectsOf(stopped).hostWork], ['stopped', undefined])
    assert.equal(after(asleep(), [2_000, hostLost()], [2_001, forcedStop]).state, 'stopped')
    assert.equal(after(searching, [6, retiringStop(0)]).deletion, Deletion.Done)
  })

  it('gets another host once its volume is detached', () => {
    const waiting = after(running(), [2, forcedStop], [3, exited(1, 3)], [5, hostLost(true)])
    assert.equal(effectsOf(waiting).place, undefined)
    const free = after(waiting, [6, hostLost(false)])
    assert.equal(effectsOf(free).place, true)
    assert.equal(after(free, [7, hostLost(false)]), free)
  })

  it('is started by the platform if traffic was waking it, however often that fails', () => {
    let life = after(asleep(), [2_000, waking(2, 2_000)], [2_001, hostLost()], [2_002, placed('h2')])
    for (let boot = 3; boot < 8; boot++) {
      life = after(life, [boot * 100_000, startFailed(boot, 'HostFull')], [boot * 100_000 + 60_000, tick])
      assert.deepEqual([life.state, life.boot], ['starting', boot + 1])
    }
  })

  it('that is told twice has one effect, and the next loss of another host another one', () => {
    const there = after(running(), [5, hostLost()], [6, placed('h2')], [7, started(2, 7)])
    assert.equal(after(there, [8, hostLost()]), there)
    const again = after(there, [9, hostLost(false, 1, 'h2')], [10, placed('h1')])
    assert.deepEqual([again.nodeId, again.boot], ['h1', 3])
  })

  it('keeps the wait for a restart by its policy, which then begins at the next host', () => {
    const waiting = after(
      created({ restartPolicy: 'always' }),
      [0, start],
      [1, started(1, 1)],
      [2, exited(1, 2)],
      [3, started(2, 3)],
      [4, exited(2, 4)],
    )
    const { restartAtMs = 0 } = waiting
    assert.ok(restartAtMs > 4)
    const searching = after(waiting, [5, hostLost()])
    assert.equal(effectsOf(searching).wakeAtMs, restartAtMs)
    const restarted = after(searching, [restartAtMs, tick])
    assert.deepEqual([restarted.state, effectsOf(restarted).hostWork], ['starting', undefined])
    const there = after(restarted, [restartAtMs + 1, placed('h2')])
    assert.deepEqual(effectsOf(there).hostWork, { kind: 'start', boot: 3 })
  })
})
