import { strict as assert } from 'node:assert'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createControlActivities } from '../../../activities/control-activities.ts'
import { measureStep } from '../../../activities/rollout/traffic.ts'
import type { RolloutDeps } from '../../../activities/rollout/rollout-deps.ts'
import { markDeleted } from '../../../src/db/instance/instances.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { counted, rolloutWorld } from '../../support/rollout-world.ts'
import { testPlan } from '../../support/rollout-rows.ts'

const volume = { mount: { at: '/data', readonly: false }, made: { sizeMb: 16 } }
const give = { kind: 'give' } as const
const finish = { kind: 'finish' } as const
const running = {
  state: InstanceState.Running,
  boot: 1,
  startCount: 1,
  restartCount: 0,
  restartAttempt: 0,
  uptimeMs: 0,
}
const intervalMs = testPlan.check.intervalMs

describe('a look at a rollout', () => {
  const world = rolloutWorld()
  const { newUser, published, begun, move, rollout, row, runs, fate, scene, control } = world
  const inActivity = <T>(work: () => Promise<T>): Promise<T> =>
    new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(work)
  const look = ({ uuid }: { readonly uuid: string }, more: Partial<RolloutDeps> = {}) =>
    inActivity(() => world.activities(more).continueRollout(uuid))

  it('checks what is up, as the plan says, and gives the traffic to what is healthy', async () => {
    const service = await published(await newUser())
    const check = { ...testPlan.check, port: 9000, path: '/health', status: 204, times: 2 }
    const { rollout: of, instances } = await begun(service, { plan: { check, bakeMs: 60_000 } })
    const waits = await look(of)
    assert.deepEqual(scene.script.checks, [], 'it still starts')
    assert.deepEqual([waits.phase, waits.done], ['preparing', []])
    assert.match(waits.now, /^waits until healthy: web-[a-z0-9]{5} \(starting\)$/)
    await runs(instances[0]!)
    assert.equal((await look(of)).phase, 'preparing', 'one good check is not enough')
    const later = await look(of, { nowMs: () => Date.now() + intervalMs })
    assert.equal(later.phase, 'baking')
    assert.match(later.done[0] ?? '', /^gave 100 % of the traffic to the new version/)
    const { port, path, status, timeoutMs } = check
    const asked = { port, path, status, timeoutMs }
    assert.deepEqual(scene.script.checks, [
      { uuid: instances[0]!.uuid, asked },
      { uuid: instances[0]!.uuid, asked },
    ])
  })

  it('is due at once when an instance of either version has a new state, and only then', async () => {
    const user = await newUser()
    const [service, other] = [await published(user), await published(user, { name: 'beside' })]
    const { rollout: of, instances } = await begun(service)
    const asked: string[] = []
    const records = createControlActivities({
      database: world.database(),
      lookAgain: (uuid) => asked.push(uuid),
    })
    const record = ({ uuid }: { readonly uuid: string }, revision: number) =>
      records.recordInstance({ instanceUuid: uuid, revision, projection: running })
    await record(instances[0]!, 1_000)
    await record(service.instances[0]!, 1_000)
    assert.deepEqual(asked, [of.uuid, of.uuid])
    await record(instances[0]!, 999)
    await record(other.instances[0]!, 1_000)
    assert.equal(asked.length, 2)
  })

  it('counts checks anew after one that failed, and names the host that does not answer', async () => {
    const service = await published(await newUser())
    const { rollout: of, instances } = await begun(service, {
      plan: { check: { ...testPlan.check, times: 2 } },
    })
    const [next] = instances
    await runs(next!)
    const results = [
      { ok: true },
      { ok: false, why: 'it answers 500' },
      new Error('no'),
      { ok: true },
    ] as const
    scene.script.check = (_instance, nth) => results[nth - 1]!
    const seen: unknown[] = []
    const beganMs = Date.now()
    for (const index of results.keys()) {
      await look(of, { nowMs: () => beganMs + index * intervalMs })
      seen.push((await rollout(of)).progress.checks?.[next!.uuid])
    }
    const at = (index: number) => ({ checkedAtMs: beganMs + index * intervalMs })
    assert.deepEqual(seen, [
      { passed: 1, ...at(0) },
      { passed: 0, failed: 'it answers 500', ...at(1) },
      { passed: 0, failed: `its host ${next!.nodeId} does not answer`, ...at(2) },
      { passed: 1, ...at(3) },
    ])
  })

  it('checks an instance as soon as it is up, whenever the others were checked', async () => {
    const service = await published(await newUser(), { replicas: 2 })
    const check = { ...testPlan.check, times: 2 }
    // The last look is ahead of the time, and must not end the step that it begins.
    const { rollout: of, instances } = await begun(service, { plan: { check, bakeMs: 60_000 } })
    const beganMs = Date.now()
    const checkedAt = async (afterMs: number): Promise<readonly string[]> => {
      const before = scene.script.checks.length
      await look(of, { nowMs: () => beganMs + afterMs })
      return scene.script.checks.slice(before).map(({ uuid }) => uuid)
    }
    const [first, second, third] = instances.map(({ uuid }) => uuid)
    await runs(instances[0]!)
    assert.deepEqual(await checkedAt(0), [first])
    await runs(instances[1]!)
    assert.deepEqual(await checkedAt(10), [second])
    await runs(instances[2]!)
    assert.deepEqual(await checkedAt(20), [third])
    assert.deepEqual(await checkedAt(intervalMs), [first])
    assert.deepEqual(await checkedAt(intervalMs + 19), [second])
    assert.deepEqual(await checkedAt(intervalMs + 20), [third])
    assert.equal((await rollout(of)).phase, 'baking')
  })

  it('goes back from a version that is not healthy in time, with the reason, and is over', async () => {
    const service = await published(await newUser())
    const { rollout: of, instances } = await begun(service)
    await runs(instances[0]!)
    scene.script.check = () => ({ ok: false, why: 'nothing listens on port 443' })
    await look(of)
    const ended = await look(of, { nowMs: () => Date.now() + testPlan.check.limitMs + 1_000 })
    assert.deepEqual([ended.phase, ended.waitMs], ['returned', undefined])
    assert.match(ended.done[0] ?? '', /was not healthy within 120 s: nothing listens on port 443$/)
    assert.ok(control().calls.includes('retire within 30000 ms'))
  })

  describe('at the traffic of a step', () => {
    const measure = async (of: { readonly uuid: string }) =>
      inActivity(async () => measureStep(world.rolloutDeps(), await rollout(of)))
    /** A rollout in its second step. In the first one each of two gateways counted 50 requests. */
    async function inSecondStep() {
      const service = await published(await newUser())
      const plan = { canary: [50, 100], bakeMs: 60_000 }
      const { rollout: of, instances } = await begun(service, { plan })
      await runs(instances[0]!)
      scene.script.traffic = { one: counted({}), two: counted({}) }
      assert.equal((await look(of)).phase, 'baking')
      scene.script.traffic = { one: counted({ '2xx': 48, '5xx': 2 }), two: counted({ '2xx': 50 }) }
      const next = async () => {
        await move(of, { kind: 'next-step' })
        assert.equal((await look(of)).phase, 'baking')
        assert.equal((await rollout(of)).step, 1)
      }
      return { of, next }
    }

    it('counts what was sent before its first look, which a killed worker makes late', async () => {
      const service = await published(await newUser())
      const { rollout: of } = await begun(service)
      await move(of, give)
      scene.script.traffic = { one: counted({ '2xx': 50, '5xx': 9 }) }
      assert.partialDeepStrictEqual(await measure(of), { requests: 59, errors: 9 })
    })

    it('leaves gateways out that do not answer, until they do', async () => {
      const { of, next } = await inSecondStep()
      await next()
      const { script } = scene
      script.traffic = { one: counted({ '2xx': 60, '5xx': 3 }), two: counted({ '2xx': 70 }) }
      script.silent = ['two']
      assert.partialDeepStrictEqual(await measure(of), { requests: 13, errors: 1 })
      script.silent = []
      assert.partialDeepStrictEqual(await measure(of), { requests: 33, errors: 1 })
    })

    it('does not take the requests of an earlier step for its own, if a gateway is silent when it begins', async () => {
      const { of, next } = await inSecondStep()
      await measure(of)
      scene.script.silent = ['one']
      await next()
      scene.script.silent = []
      scene.script.traffic = { one: counted({ '2xx': 50, '5xx': 5 }), two: counted({ '2xx': 50 }) }
      // Else the three errors would be three of 155, which the bound permits.
      assert.partialDeepStrictEqual(await measure(of), { requests: 5, errors: 3 })
    })

    it('keeps what a gateway counted that was killed, and all that its next start counts', async () => {
      const { of, next } = await inSecondStep()
      await next()
      const { script } = scene
      script.traffic['one'] = counted({ '2xx': 90, '5xx': 4 })
      assert.partialDeepStrictEqual(await measure(of), { requests: 44, errors: 2 })
      script.runs['one'] = 'second'
      script.traffic['one'] = counted({ '2xx': 1 })
      assert.partialDeepStrictEqual(await measure(of), { requests: 45, errors: 2 })
      // More than the first start had counted when the step began: that is no sign that it goes on.
      script.runs['one'] = 'third'
      script.traffic['one'] = counted({ '2xx': 99, '5xx': 1 })
      assert.partialDeepStrictEqual(await measure(of), { requests: 145, errors: 3 })
    })

    it('counts nothing twice, whatever the order in which looks are noted', async () => {
      const { of, next } = await inSecondStep()
      await next()
      const before = await rollout(of)
      const { script } = scene
      script.traffic['one'] = counted({ '2xx': 80, '5xx': 2 })
      await measure(of)
      // A look that began before that one ends after it.
      script.traffic['one'] = counted({ '2xx': 60, '5xx': 2 })
      await inActivity(async () => measureStep(world.rolloutDeps(), before))
      script.traffic['one'] = counted({ '2xx': 81, '5xx': 2 })
      assert.partialDeepStrictEqual(await measure(of), { requests: 33, errors: 0 })
    })
  })

  it('goes back from a version whose requests fail', async () => {
    const service = await published(await newUser())
    const { rollout: of, instances } = await begun(service, { plan: { bakeMs: 60_000 } })
    await runs(instances[0]!)
    scene.script.traffic = { one: counted({}) }
    assert.equal((await look(of)).phase, 'baking')
    scene.script.traffic = { one: counted({ '2xx': 20, '5xx': 5 }) }
    const ended = await look(of)
    assert.equal(ended.phase, 'returned')
    assert.match((await rollout(of)).reason ?? '', /^with 100 % of the traffic, 5 of 25 requests/)
  })

  it('stops the old version for its volume, and starts the new one with it', async () => {
    const service = await published(await newUser(), { volume })
    const [old] = service.instances
    const { rollout: of, instances } = await begun(service)
    const { done, phase } = await look(of)
    assert.equal(phase, 'baking')
    assert.deepEqual(done.slice(0, 4), [
      'let requests wait, because the volume can be with one version only',
      'asked the old version to stop',
      'gave the volume to the new version',
      'asked the new version to start',
    ])
    assert.equal((await row(old!)).state, InstanceState.Stopped)
    assert.partialDeepStrictEqual(await row(instances[0]!), {
      state: InstanceState.Running,
      volumeAt: '/data',
    })
  })

  it('goes back with the volume if there is no place in the quotas for the new version', async () => {
    const user = await newUser({ liveInstances: 1 })
    const service = await published(user, { volume })
    const [old] = service.instances
    const { rollout: of } = await begun(service)
    control().faults.holdsStarts = true
    // Another instance takes the place once the old one has stopped.
    const { stop } = control()
    const taking: RolloutDeps['instances'] = {
      ...control(),
      async stop(...args) {
        await stop(...args)
        if (await isTaken()) return
        await world.instances(user, { name: 'other', autostart: true })
      },
    }
    const isTaken = async () =>
      (await world.db().selectFrom('instances').select('uuid').where('name', '=', 'other').execute()).length >
      0
    const { done, phase, waitMs, now } = await look(of, { instances: taking })
    assert.ok(
      done.some((line) => /^began to go back: web-[a-z0-9]{5} can not be started: ./.test(line)),
      done.join(),
    )
    assert.ok(!done.includes('asked the new version to start'), 'it was not')
    assert.equal((await row(old!)).volumeAt, '/data', 'the old version has its volume again')
    assert.deepEqual([phase, waitMs], ['returning', 1_000])
    assert.match(now, /^goes back: web comes up$/)
    assert.match((await rollout(of)).progress.checks?.[old!.uuid]?.failed ?? '', /^it can not be started: ./)
    await markOther(user)
    delete control().faults.holdsStarts
    const ended = await look(of)
    assert.deepEqual([ended.phase, (await row(old!)).state], ['returned', InstanceState.Running])
  })

  const markOther = async (user: { readonly uuid: string }) => {
    const other = await world
      .db()
      .selectFrom('instances')
      .select('uuid')
      .where('name', '=', 'other')
      .execute()
    await markDeleted(world.database(), user.uuid, other[0]!.uuid)
  }

  it('stops the old version once it is kept, and tells its workflow when it is deleted', async () => {
    const service = await published(await newUser())
    const [old] = service.instances
    const { rollout: of } = await begun(service, { plan: { keepMs: 60_000 } })
    await move(of, give, finish)
    const kept = await look(of)
    assert.deepEqual(kept.done, ['asked the old version to stop'])
    assert.equal((await row(old!)).state, InstanceState.Stopped)
    assert.ok(kept.waitMs !== undefined && kept.waitMs <= 30_000)
    const ended = await look(of, { nowMs: () => Date.now() + 120_000 })
    assert.partialDeepStrictEqual(ended, { phase: 'done', done: ['deleted the old version'] })
    assert.equal(control().calls.at(-1), 'delete')
  })

  it('deletes what is kept of a service that is gone, and is over', async () => {
    const service = await published(await newUser())
    const { rollout: of, instances } = await begun(service)
    await move(of, give, finish)
    await markDeleted(world.database(), service.userUuid, instances[0]!.uuid)
    const ended = await look(of)
    assert.deepEqual([ended.waitMs, ended.now], [undefined, 'its service is deleted'])
    assert.match(ended.done[0] ?? '', /^deleted web-[a-z0-9]{5}, which was kept/)
    assert.equal(control().calls.at(-1), 'delete')
  })

  it('begins the copies that autoscale needs of the new version', async () => {
    const scaled = await world.scaled(await newUser(), {}, { name: 'web' })
    await world.grown(scaled, 2)
    const service = await world.serviceOf(scaled.uuid)
    const { rollout: of, instances } = await begun(service)
    await runs(instances[0]!)
    const { done, phase } = await look(of)
    assert.equal(done[0], 'made 2 more of the new version')
    assert.equal(control().calls.filter((call) => call === 'ensureStarted').length, 2)
    assert.equal(phase, 'baking')
    assert.equal(await fate(instances[0]!), undefined)
  })
})
