import { strict as assert } from 'node:assert'
import { setUse } from '../../../src/db/host/administration.ts'
import { HostUse } from '../../../src/domain/host/use.ts'
import { openEnv } from '../../../src/db/instance/row.ts'
import { listRollouts, findUnstartedRollouts, markRolloutStarted } from '../../../src/db/rollout/records.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { addNode, testSecretBox } from '../../support/accounts.ts'
import { rolloutRows, testPlan, withVersion } from '../../support/rollout-rows.ts'

const mount = { at: '/data', readonly: true }

describe('a rollout that is created', () => {
  const rows = rolloutRows()
  const { newUser, published, joined, begun, refusal, row, divided, stops, told } = rows

  it('has an instance beside each one that is not stopped, with its change and its place', async () => {
    const service = await published(await newUser(), {
      env: { MODE: 'fast', VERSION: 'one' },
      memoryMb: 192,
      args: ['/bin/serve'],
    })
    const other = await joined(service, { name: 'api' })
    const stopped = await joined(service, { name: 'down' })
    await stops(stopped)
    const { rollout, instances } = await begun(service)
    const [web] = service.instances
    assert.deepEqual(
      instances.map(({ replaces }) => replaces),
      [web!.uuid, other.uuid],
    )
    const [next] = instances
    assert.match(next!.name, /^web-[a-z0-9]{5}$/)
    assert.partialDeepStrictEqual(next, {
      rolloutUuid: rollout.uuid,
      serviceUuid: service.uuid,
      memoryMb: 192,
      args: ['/bin/serve'],
      image: web!.image,
      state: InstanceState.Starting,
      autostart: true,
      startCount: 0,
    })
    assert.deepEqual(openEnv(testSecretBox, next!), { MODE: 'fast', VERSION: 'two' })
    assert.deepEqual(openEnv(testSecretBox, await row(web!)), { MODE: 'fast', VERSION: 'one' })
    assert.notEqual(next!.privateIp, web!.privateIp)
  })

  it('spreads the new version over hosts, wherever the old one is', async () => {
    const service = await published(await newUser(), { replicas: 1 })
    const ids = ['second', 'third']
    for (const id of ids) await addNode(rows.database(), { id, memoryMb: 2_048 })
    const { instances } = await begun(service)
    const [first, second] = instances.map(({ nodeId }) => nodeId)
    assert.equal(first, 'local', 'the old version, which is there, does not count')
    assert.notEqual(second, first)
    assert.equal(instances[1]?.placement?.kind, 'spread')
    for (const id of ids) await setUse(rows.database(), id, HostUse.Cordoned)
  })

  it('divides the service without giving the new version anything yet', async () => {
    const service = await published(await newUser())
    const { rollout } = await begun(service)
    assert.deepEqual(await divided(service), {
      rolloutUuid: rollout.uuid,
      rolloutPercent: 0,
      rolloutHeld: false,
      persistent: true,
    })
    assert.partialDeepStrictEqual(rollout, {
      phase: 'preparing',
      step: 0,
      wasPersistent: false,
      endedAt: null,
    })
    const [event] = await told(service)
    assert.equal(event?.stateAfter, 'preparing')
    assert.match(event?.why ?? '', /^a rollout was asked for: .*env/)
  })

  it('asks the first port that the service publishes, unless another one is named', async () => {
    const service = await published(await newUser())
    const { rollout } = await begun(service)
    assert.deepEqual(rollout.plan, { ...testPlan, check: { ...testPlan.check, port: 443 } })
    const other = await published(await newUser(), {}, [])
    const { rollout: named } = await begun(other, { plan: { check: { ...testPlan.check, port: 81 } } })
    assert.equal(named.plan.check.port, 81)
  })

  it('does not start an instance whose volume the old one has, and puts it on its host', async () => {
    const service = await published(await newUser(), { volume: { mount, made: { sizeMb: 16 } } })
    const [web] = service.instances
    const { rollout, instances } = await begun(service)
    assert.partialDeepStrictEqual(instances[0], {
      state: InstanceState.Stopped,
      autostart: false,
      volumeUuid: null,
      nodeId: web!.nodeId,
    })
    assert.equal(rollout.hasVolumes, true)
    assert.notEqual((await row(web!)).volumeUuid, null)
  })

  it('names no value of a variable in its row and in its event', async () => {
    const service = await published(await newUser(), { env: { VERSION: 'old-secret' } })
    const { rollout } = await begun(service, { apply: withVersion('new-secret') })
    const text = JSON.stringify([rollout, await told(service)])
    assert.ok(rollout.changes.length > 0 && !/old-secret|new-secret/.test(text), text)
  })

  it('counts both versions in quotas, with the copies that autoscale will need', async () => {
    const user = await newUser({ instances: 6 })
    const service = await rows.scaled(user, {}, { name: 'web' })
    await rows.grown(service, 3)
    const scaled = await rows.serviceOf(service.uuid)
    assert.partialDeepStrictEqual(await refusal(scaled), {
      kind: 'quota',
      excess: { quota: 'instances' },
    })
    const roomy = await newUser({ instances: 8 })
    const other = await rows.scaled(roomy, {}, { name: 'web' })
    await rows.grown(other, 3)
    const { instances } = await begun(await rows.serviceOf(other.uuid))
    assert.equal(instances.length, 1, 'clones get their counterparts step by step')
  })

  it('counts all its instances together in quotas', async () => {
    const service = await published(await newUser({ liveInstances: 3 }))
    await joined(service, { name: 'api' })
    assert.partialDeepStrictEqual(await refusal(service), {
      kind: 'quota',
      excess: { quota: 'liveInstances' },
    })
    assert.deepEqual(await listRollouts(rows.database(), service.uuid, 5), [])
    assert.equal((await rows.serviceOf(service.uuid)).instances.length, 2)
  })

  it('needs no second place in live quotas for an instance that stops for its volume', async () => {
    const user = await newUser({ liveInstances: 1, instances: 2 })
    const service = await published(user, { volume: { mount, made: { sizeMb: 16 } } })
    assert.equal((await begun(service)).instances.length, 1)
  })

  it('is refused with each reason', async () => {
    const user = await newUser()
    const service = await published(user)
    const gone = { ...service, uuid: user.uuid }
    assert.deepEqual(await refusal(gone), { kind: 'service-not-found', by: 'uuid', value: user.uuid })
    await begun(service)
    const { name } = await nameOf(service.uuid)
    assert.deepEqual(await refusal(service), { kind: 'rollout-under-way', name, phase: 'preparing' })

    const stopped = await published(await newUser())
    await stops(stopped.instances[0]!)
    assert.partialDeepStrictEqual(await refusal(stopped), { kind: 'nothing-to-roll-out' })

    assert.partialDeepStrictEqual(await refusal(await published(await newUser(), {}, [])), {
      kind: 'nothing-to-check',
    })

    const keeping = await published(await newUser(), { volume: { mount, made: { sizeMb: 16 } } })
    assert.partialDeepStrictEqual(await refusal(keeping, { plan: { canary: [10, 100] } }), {
      kind: 'volume-in-steps',
      instance: 'web',
    })

    const large = await published(await newUser())
    assert.partialDeepStrictEqual(
      await refusal(large, { apply: (now) => ({ ...now, memoryMb: 1_000_000 }) }),
      { kind: 'limit', breach: { parameter: 'memory_mb' } },
    )
  })

  it('is refused if another request creates one at the same moment', async () => {
    const service = await published(await newUser())
    const outcomes = await Promise.all([rows.create(service), rows.create(service)])
    assert.equal(outcomes.filter(({ ok }) => ok).length, 1)
    const refused = outcomes.find((one) => !one.ok)
    assert.ok(refused && !refused.ok)
    assert.equal(refused.refusal.kind, 'rollout-under-way')
    assert.equal((await listRollouts(rows.database(), service.uuid, 5)).length, 1)
  })

  it('leaves nothing behind if one is refused', async () => {
    const service = await published(await newUser(), {}, [])
    await refusal(service)
    assert.deepEqual(await divided(service), {
      rolloutUuid: null,
      rolloutPercent: null,
      rolloutHeld: false,
      persistent: false,
    })
    assert.deepEqual((await rows.serviceOf(service.uuid)).instances, service.instances)
  })

  it('is found by the sweep until its workflow is known to run', async () => {
    const service = await published(await newUser())
    const { rollout } = await begun(service)
    const found = async (olderThanMs: number) =>
      (await findUnstartedRollouts(rows.database(), { olderThanMs, limit: 100 })).filter(
        ({ rolloutUuid }) => rolloutUuid === rollout.uuid,
      )
    const { name } = await nameOf(service.uuid)
    const { uuid, userUuid } = rollout
    await rows
      .db()
      .updateTable('rollouts')
      .set({ createdAt: new Date(0) })
      .where('uuid', '=', uuid)
      .execute()
    assert.deepEqual(await found(1_000), [{ rolloutUuid: uuid, serviceName: name, userUuid }])
    assert.deepEqual(await found(100 * 365 * 86_400_000), [], 'it is not that old')
    await markRolloutStarted(rows.database(), [uuid])
    assert.deepEqual(await found(1_000), [])
  })

  it('is not found by the sweep once it is over', async () => {
    const service = await published(await newUser())
    const { rollout } = await begun(service)
    const { uuid } = rollout
    await rows
      .db()
      .updateTable('rollouts')
      .set({ createdAt: new Date(0) })
      .where('uuid', '=', uuid)
      .execute()
    await rows.move(rollout, { kind: 'turn-back', reason: 'a test' })
    const found = await findUnstartedRollouts(rows.database(), { olderThanMs: 0, limit: 100 })
    assert.ok(!found.some(({ rolloutUuid }) => rolloutUuid === uuid))
  })

  it('removes the oldest that are over beyond those that are kept', async () => {
    const service = await published(await newUser())
    const made: string[] = []
    for (const version of ['1', '2', '3', '4', '5']) {
      const { rollout } = await begun(service, { kept: 3, apply: withVersion(version) })
      made.push(rollout.uuid)
      await rows.move(rollout, { kind: 'turn-back', reason: 'a test' })
    }
    const left = await listRollouts(rows.database(), service.uuid, 50)
    assert.deepEqual(
      left.map(({ uuid }) => uuid),
      made.slice(-3).toReversed(),
    )
    assert.equal((await listRollouts(rows.database(), service.uuid, 2)).length, 2)
  })

  const nameOf = (uuid: string) =>
    rows.db().selectFrom('services').select('name').where('uuid', '=', uuid).executeTakeFirstOrThrow()
})
