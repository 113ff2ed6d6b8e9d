import assert from 'node:assert/strict'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import type { RouteRollout, RouteService } from '../../src/domain/service/route-feed.ts'
import type { BalanceLimits } from '../../src/gateway/balance/balance-limits.ts'
import type { Admission, Refusal } from '../../src/gateway/traffic.ts'
import { FakeLeaseServer } from '../support/fake-lease-server.ts'
import { RolloutScene, next, oldAndNew, rollout } from '../support/rollout-scene.ts'
import type { ToldInstances } from '../support/rollout-scene.ts'
import { until } from '../support/until.ts'

const limitMs = 30_000

describe('requests while a rollout changes', function () {
  this.timeout(limitMs)
  let host: FakeLeaseServer
  let scene: RolloutScene

  beforeEach(async () => {
    host = await FakeLeaseServer.start()
  })
  afterEach(() => {
    scene.balancer.close()
    host.close()
  })

  function given(
    instances: ToldInstances,
    over: Partial<RouteService> = {},
    limits: Partial<BalanceLimits> = {},
  ): void {
    const wide = { softLimit: 10_000, hardLimit: 10_000 }
    scene = new RolloutScene(host, { ...wide, ...over }, { unsettledMs: 0, ...limits })
    scene.tell(instances)
  }

  const asked = (count: number): readonly Promise<Admission | Refusal>[] =>
    Array.from({ length: count }, async () => scene.admit())

  async function takersOf(all: readonly Promise<Admission | Refusal>[]): Promise<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const outcome of await Promise.all(all)) {
      const who = outcome.admitted ? outcome.instanceUuid : outcome.reason
      counts[who] = (counts[who] ?? 0) + 1
    }
    return counts
  }

  describe('that is held', () => {
    it('wait, whatever the versions could do, and are divided when the hold ends; those in flight go on', async () => {
      given([['old', 'running']])
      const inFlight = await scene.admission()
      inFlight.onEnd(() => assert.fail('it goes on'))
      scene.change(rollout(50, true))
      const all = asked(200)
      await setImmediate()
      assert.equal(scene.balancer.queued, 200)
      assert.deepEqual(scene.opened, ['old'])
      scene.change(rollout(25))
      assert.deepEqual(await takersOf(all), { old: 150, new: 50 })
      assert.equal(scene.balancer.queued, 0)
      assert.deepEqual(scene.refused, [])
      inFlight.done()
    })

    it('are let in when the rollout is over', async () => {
      given(oldAndNew, { rollout: rollout(0, true) })
      const all = asked(200)
      scene.change(undefined, [['new', 'running']])
      assert.deepEqual(await takersOf(all), { new: 200 })
    })

    it('say how long they had waited', async () => {
      given(oldAndNew, { rollout: rollout(0, true) })
      const [waiting] = asked(1)
      scene.skewMs += 5_000
      scene.change(rollout(0))
      const outcome = await waiting
      assert(outcome?.admitted && outcome.timing.queuedUs >= 5_000_000)
    })

    it('wait with the others also if they had waited for one version, which is then not woken for them', async () => {
      host.answer = () => undefined
      given(oldAndNew, { rollout: rollout(50) })
      const all = asked(20)
      const open = await host.next('open', 2)
      scene.change(rollout(50, true))
      await host.next('withdraw', 2)
      scene.change(rollout(100))
      assert.equal(open.instance, 'new')
      host.open(open)
      assert.deepEqual(await takersOf(all), { new: 20 })
    })

    it('leave when their client goes away', async () => {
      given(oldAndNew, { rollout: rollout(50, true) })
      const leaving = new AbortController()
      const left = scene.admit({ signal: leaving.signal })
      const [stays] = asked(1)
      leaving.abort()
      assert.deepEqual(await left, { admitted: false, reason: 'aborted' })
      assert.deepEqual(await scene.admit({ signal: leaving.signal }), { admitted: false, reason: 'aborted' })
      assert.equal(scene.balancer.queued, 1)
      scene.change(rollout(100))
      assert.deepEqual(await takersOf([stays!]), { new: 1 })
    })

    it('are bounded by number and by time', async () => {
      given(oldAndNew, { rollout: rollout(50, true) }, { maxQueuedPerService: 3, maxWaitMs: 50 })
      assert.deepEqual(await takersOf(asked(4)), { 'queue-full': 1, 'timed-out': 3 })
      assert.equal(scene.balancer.queued, 0)
    })

    it('give a user no more than the share of the queue', async () => {
      given(oldAndNew, { rollout: rollout(50, true) }, { maxQueued: 10, maxWaitMs: 50 })
      assert.deepEqual(await takersOf(asked(10)), { 'queue-full': 5, 'timed-out': 5 })
    })

    it('are refused when the service is deleted', async () => {
      given(oldAndNew, { rollout: rollout(50, true) })
      const all = asked(3)
      scene.table.apply({ kind: 'begin', snapshot: true })
      scene.table.apply({ kind: 'end', revision: '9' })
      assert.deepEqual(await takersOf(all), { 'no-instance': 3 })
      assert.equal(scene.balancer.queued, 0)
    })

    it('go on waiting when the routes come again', async () => {
      given(oldAndNew, { rollout: rollout(50, true) })
      const all = asked(3)
      scene.tell(oldAndNew)
      scene.change(rollout(50, true))
      assert.equal(scene.balancer.queued, 3)
      scene.change(rollout(100))
      assert.deepEqual(await takersOf(all), { new: 3 })
    })
  })

  it('that wait for the current version are answered by the new one when the rollout is over', async () => {
    host.answer = ({ instance }) => (instance === 'old' ? undefined : {})
    given(oldAndNew, { rollout: rollout(50) })
    const all = asked(20)
    await until('half are answered', () => scene.balancer.queued === 10, { limitMs })
    scene.change(undefined, [['new', 'running']])
    assert.deepEqual(await takersOf(all), { new: 20 })
  })

  it('that wait for the new version are answered by the current one when it has no share any more', async () => {
    for (const to of [undefined, rollout(0)]) {
      host.answer = ({ instance }) => (instance === 'new' ? undefined : {})
      given(oldAndNew, { rollout: rollout(50) })
      const all = asked(20)
      await until('half are answered', () => scene.balancer.queued === 10, { limitMs })
      scene.change(to, to === undefined ? [['old', 'running']] : oldAndNew)
      assert.deepEqual(await takersOf(all), { old: 20 })
      scene.balancer.close()
    }
  })

  it('that wait for the current version are given to the new one when that gets all of them', async () => {
    host.answer = ({ instance }) => (instance === 'old' ? undefined : {})
    given(oldAndNew, { rollout: rollout(50) })
    const all = asked(20)
    await until('half are answered', () => scene.balancer.queued === 10, { limitMs })
    scene.change(rollout(100))
    assert.deepEqual(await takersOf(all), { new: 20 })
  })

  it('that wait for the new version go on waiting for it when it becomes the only one', async () => {
    host.answer = ({ instance }) => (instance === 'new' ? undefined : {})
    given(oldAndNew, { rollout: rollout(100) }, { maxWaitMs: 2_000 })
    const all = asked(5)
    const open = await host.next('open')
    scene.change(undefined, [['new', 'starting']])
    await delay(1_100)
    assert.equal(scene.balancer.queued, 5)
    assert.equal(host.all('withdraw').length, 0)
    host.open(open)
    assert.deepEqual(await takersOf(all), { new: 5 })
  })

  it('that wait for the current version have all of their time once the rollout is over', async () => {
    host.answer = () => undefined
    given(oldAndNew, { rollout: rollout(1) }, { maxWaitMs: 400 })
    const beganMs = performance.now()
    const all = asked(1)
    await host.next('open')
    scene.change(undefined, [['old', 'starting']])
    assert.deepEqual(await takersOf(all), { 'timed-out': 1 })
    assert(performance.now() - beganMs > 390)
  })

  it('and that came before it wait longer for the current version than those that the new one may get', async () => {
    host.answer = ({ instance }) => (instance === 'old' ? undefined : {})
    given([['old', 'running']], {}, { maxWaitMs: 2_000 })
    const before = asked(1)
    scene.change(rollout(1))
    assert.deepEqual(await takersOf(asked(1)), { new: 1 })
    assert.equal(scene.balancer.queued, 1)
    assert.deepEqual(await takersOf(before), { new: 1 })
  })

  it('in flight at an instance that changes its version are counted there as before', async () => {
    given(oldAndNew, { rollout: rollout(100), softLimit: 1, hardLimit: 2 })
    const first = await scene.admission()
    assert.deepEqual([first.instanceUuid, first.rolloutUuid], ['new', 'rollout-1'])
    scene.change(undefined, [['new', 'running']])
    const second = await scene.admission()
    assert.deepEqual([second.instanceUuid, second.rolloutUuid], ['new', undefined])
    const third = await scene.admit()
    assert(!third.admitted && third.reason === 'hard-limit')
    first.done()
    second.done()
    assert.deepEqual(await takersOf(asked(2)), { new: 2 })
    assert.equal(host.all('open').length, 1)
  })

  it('are all answered, and by nobody who has no share, whatever a rollout does', async () => {
    const step = fc.oneof(
      fc.record({
        percent: fc.constantFrom(0, 1, 30, 50, 99, 100),
        held: fc.boolean(),
        newRuns: fc.boolean(),
      }),
      fc.constantFrom('ends' as const, 'turns back' as const),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        // The new version comes up late or fails: neither may cost a request.
        let asks = 0
        host.answer = ({ instance, epoch }) => {
          asks += 1
          if (instance === 'new' && asks % 3 === 1) return undefined
          if (instance !== 'new' || asks % 3 === 0) return { boot: 1 }
          return { kind: 'refused', instance, epoch, reason: 'failed', message: '', retryAfterMs: 1 }
        }
        given([['old', 'running']], { softLimit: 3 }, { maxWaitMs: 60_000 })
        const outcomes: Promise<Admission | Refusal>[] = []
        let share: RouteRollout | undefined
        const traffic = async (): Promise<void> => {
          for (let each = 0; each < 20; each++) {
            const outcome = scene.admit()
            outcomes.push(Promise.resolve(outcome))
            if (outcome instanceof Promise || !outcome.admitted) continue
            assert.notEqual(share?.held, true)
            if ((share?.percent ?? 0) === 0) assert.equal(outcome.instanceUuid, 'old')
            if (each % 2 === 0) outcome.done()
          }
          await setImmediate()
        }
        for (const each of steps) {
          const goesOn = typeof each === 'object'
          share = goesOn ? rollout(each.percent, each.held) : undefined
          const state = goesOn && !each.newRuns ? 'standby' : 'running'
          scene.change(share, goesOn ? [['old', 'running'], ['new', state, next]] : [['old', 'running']]) // prettier-ignore
          await traffic()
        }
        share = undefined
        scene.change(share, [['old', 'running']])
        await traffic()
        for (const outcome of await Promise.all(outcomes)) {
          assert(outcome.admitted, JSON.stringify(outcome))
          outcome.done()
        }
        assert.equal(scene.balancer.queued, 0)
        assert.deepEqual(scene.refused, [])
        scene.balancer.close()
        host.drop()
      }),
      { numRuns: 60 },
    )
  })
})
