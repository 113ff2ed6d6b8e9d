import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { RouteService } from '../../src/domain/service/route-feed.ts'
import { hostAwayAfterMs, leaseValidMs } from '../../src/domain/standby/lease-protocol.ts'
import type { BalanceLimits } from '../../src/gateway/balance/balance-limits.ts'
import type { Admission, Refusal } from '../../src/gateway/traffic.ts'
import { FakeLeaseServer } from '../support/fake-lease-server.ts'
import { RolloutScene, next, oldAndNew, rollout } from '../support/rollout-scene.ts'
import type { ToldInstances } from '../support/rollout-scene.ts'
import { until } from '../support/until.ts'

const limitMs = 30_000

describe('a service during a rollout', function () {
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

  describe('is divided', () => {
    it('exactly, in even steps, whatever comes and however long it lasts', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 0, max: 100 }),
          fc.array(fc.record({ isConnection: fc.boolean(), endsOne: fc.boolean() }), {
            minLength: 200,
            maxLength: 200,
          }),
          async (percent, kinds) => {
            given(oldAndNew, { rollout: rollout(percent) })
            const open: Admission[] = []
            let toNew = 0
            for (const [index, { isConnection, endsOne }] of kinds.entries()) {
              const admission = await scene.admission({ kind: isConnection ? 'connection' : 'request' })
              open.push(admission)
              if (admission.instanceUuid === 'new') toNew += 1
              assert.equal(admission.rolloutUuid, admission.instanceUuid === 'new' ? 'rollout-1' : undefined)
              assert.equal(toNew, Math.floor(((index + 1) * percent) / 100))
              if (endsOne) open.shift()?.done()
            }
            scene.balancer.close()
          },
        ),
        { numRuns: 20 },
      )
    })

    for (const percent of [5, 50, 100]) {
      it(`${percent} of a hundred over a thousand requests and connections at once`, async () => {
        given(oldAndNew, { rollout: rollout(percent) })
        const asked = Array.from({ length: 1_000 }, async (_, index) =>
          scene.admission({ kind: index % 3 === 0 ? 'connection' : 'request' }),
        )
        const admissions = await Promise.all(asked)
        const toNew = admissions.filter(({ instanceUuid }) => instanceUuid === 'new')
        assert.equal(toNew.length, percent * 10)
        for (const admission of admissions) admission.done()
      })
    }

    it('after a change by the new percentage', async () => {
      given(oldAndNew, { rollout: rollout(10) })
      assert.deepEqual(await scene.takers(100), { old: 90, new: 10 })
      scene.change(rollout(70))
      assert.deepEqual(await scene.takers(100), { old: 30, new: 70 })
      scene.change(rollout(0))
      assert.deepEqual(await scene.takers(100), { old: 100 })
      scene.change(undefined, [['new', 'running']])
      assert.deepEqual(await scene.takers(100), { new: 100 })
    })

    it('only within a version among its instances', async () => {
      given(
        [['old', 'running'], ['new', 'running', next], ['new-2', 'running', next]], // prettier-ignore
        { rollout: rollout(50) },
      )
      await scene.takers(10)
      await until('all are open', () => scene.balancer.phases().get('open') === 3, { limitMs })
      const open: Admission[] = []
      for (let each = 0; each < 100; each++) open.push(await scene.admission())
      const counts = Object.groupBy(open, ({ instanceUuid }) => instanceUuid)
      assert.equal(counts['old']?.length, 50)
      assert.equal(counts['new']?.length, 25)
      assert.equal(counts['new-2']?.length, 25)
    })
  })

  it('opens and wakes nothing of a new version without a share, even if the current one fails', async () => {
    given(
      [
        ['old', 'stopped'],
        ['new', 'running', next],
        ['new-2', 'standby', next],
      ],
      {
        // prettier-ignore
        rollout: rollout(0),
      },
    )
    const refusal = await scene.admit()
    assert(!refusal.admitted && refusal.reason === 'no-instance' && refusal.rolloutUuid === undefined)
    scene.change(rollout(0), [['old', 'running'], ['new', 'running', next]]) // prettier-ignore
    assert.deepEqual(await scene.takers(50), { old: 50 })
    assert.deepEqual(scene.opened, ['old'])
  })

  it('opens and wakes nothing of the current version without a share', async () => {
    given([['old', 'running'], ['old-2', 'standby'], ['new', 'running', next]], { rollout: rollout(100) }) // prettier-ignore
    assert.deepEqual(await scene.takers(50), { new: 50 })
    assert.deepEqual(scene.opened, ['new'])
  })

  describe('gives a request to the other version', () => {
    const refusals: Record<string, { readonly told: ToldInstances; readonly over?: Partial<RouteService> }> =
      {
        'no-instance': { told: [['old', 'running'], ['new', 'stopped', next]] }, // prettier-ignore
        'wake-failed': { told: [['old', 'running'], ['new', 'standby', next]] }, // prettier-ignore
        'timed-out': { told: [['old', 'running'], ['new', 'starting', next]] }, // prettier-ignore
        'hard-limit': { told: oldAndNew, over: { softLimit: 1, hardLimit: 1 } },
      }
    const message = 'It does not come up.'
    const mirrored = (told: ToldInstances): ToldInstances =>
      told.map(([uuid, state, { isNext, ...over } = {}]) => [
        uuid === 'old' ? 'new' : 'old',
        state,
        isNext === true ? over : { ...over, ...next },
      ])

    for (const [reason, { told, over = {} }] of Object.entries(refusals)) {
      for (const first of ['new', 'old']) {
        it(`if the ${first} one refuses it with ${reason}`, async () => {
          host.answer = ({ instance, epoch }) => {
            if (instance === first && reason === 'timed-out') return undefined
            if (instance !== first || reason === 'hard-limit') return { boot: 1 }
            return { kind: 'refused', instance, epoch, reason: 'failed', message, retryAfterMs: 9_000 }
          }
          given([], over, reason === 'timed-out' ? { maxWaitMs: 2_000 } : {})
          const percent = first === 'new' ? 100 : 1
          scene.change(rollout(percent), first === 'new' ? told : mirrored(told))
          const second = first === 'new' ? 'old' : 'new'
          if (reason === 'hard-limit') {
            assert.equal((await scene.admission()).instanceUuid, first)
          }
          const admission = await scene.admission()
          assert.equal(admission.instanceUuid, second)
          assert.equal(admission.rolloutUuid, second === 'new' ? 'rollout-1' : undefined)
          assert.deepEqual(scene.refused, [])
        })
      }
    }

    it('if the host of the one that is asked first is away', async () => {
      const silent = await FakeLeaseServer.start()
      const beats = setInterval(() => host.say({ kind: 'beat' }), 5)
      given([])
      scene.hosts = [{ ...silent.node, id: 'node-2' }]
      try {
        scene.change(rollout(100), [['old', 'running'], ['new', 'running', { ...next, nodeId: 'node-2' }]]) // prettier-ignore
        const before = await scene.admission()
        assert.equal(before.instanceUuid, 'new')
        silent.mute = true
        scene.skewMs += leaseValidMs
        await until('it counts as silent', () => scene.balancer.phases().get('unsure') === 1, { limitMs })
        const waiting = scene.admission()
        assert.deepEqual(scene.opened, [])
        scene.skewMs += hostAwayAfterMs
        assert.equal((await waiting).instanceUuid, 'old')
      } finally {
        clearInterval(beats)
        silent.close()
      }
    })

    it('not if its client went away', async () => {
      host.answer = ({ instance }) => (instance === 'new' ? undefined : {})
      given(oldAndNew, { rollout: rollout(100) })
      const leaving = new AbortController()
      const waiting = scene.admit({ signal: leaving.signal })
      await host.next('open')
      leaving.abort()
      const outcome = await waiting
      assert(!outcome.admitted && outcome.reason === 'aborted')
      assert.deepEqual(scene.opened, ['new'])
      assert.equal(scene.balancer.queued, 0)
    })

    it('and tells the first refusal if both refuse, as one of the version that was asked first', async () => {
      host.answer = ({ instance, epoch }) => ({
        kind: 'refused',
        instance,
        epoch,
        reason: 'failed',
        message: `${instance} fails`,
        retryAfterMs: 9_000,
      })
      given(oldAndNew, { rollout: rollout(50) })
      const outcomes: Refusal[] = []
      for (let each = 0; each < 2; each++) {
        const outcome = await scene.admit()
        assert(!outcome.admitted)
        outcomes.push(outcome)
      }
      assert.deepEqual(
        outcomes.map((each) => ['message' in each && each.message, each.rolloutUuid]),
        [
          ['old fails', undefined],
          ['new fails', 'rollout-1'],
        ],
      )
      assert.deepEqual(scene.refused, ['wake-failed', 'wake-failed'])
    })

    it('after half of the time, so that the other one has as much', async () => {
      host.answer = () => undefined
      given(oldAndNew, { rollout: rollout(100) }, { maxWaitMs: 2_000 })
      const startMs = performance.now()
      const waiting = scene.admit()
      const late = await host.next('open', 2)
      assert.equal(late.instance, 'old')
      assert(performance.now() - startMs < 1_900, 'the second version is asked before the time is over')
      const outcome = await waiting
      assert(!outcome.admitted && outcome.reason === 'timed-out' && outcome.rolloutUuid === 'rollout-1')
      assert(performance.now() - startMs > 1_900)
    })
  })
})
