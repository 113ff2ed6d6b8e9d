import { strict as assert } from 'node:assert'
import { closeClones, removeAutoscaleRow } from '../../../src/db/autoscale/closing.ts'
import { lastDecisions } from '../../../src/db/autoscale/decisions.ts'
import {
  findDeletedAutoscales,
  findRetiredClones,
  findUnstartedAutoscales,
  markAutoscaleStarted,
  readAutoscaleMembers,
} from '../../../src/db/autoscale/records.ts'
import { ago, fromNow, now } from '../../../src/db/sql/time.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { autoscaleRows, testCooldownMs } from '../../support/autoscale-rows.ts'

// PostgreSQL rounds times in rows to milliseconds, so a new row may lie in the future. `all` finds it too.
const all = { olderThanMs: -1_000, limit: 1_000 }

describe('autoscale configurations that are deleted', () => {
  const rows = autoscaleRows()
  const { newUser, scaled, configure, unconfigure, align, marks, clones, grown, target, tell, db } = rows
  const database = () => rows.database()
  const close = (service: { readonly uuid: string }) => closeClones(database(), service.uuid)
  const closing = async (service: { readonly uuid: string }) => {
    const closed = await close(service)
    assert.ok(closed.kind === 'closing', closed.kind)
    return closed
  }

  it('give all clones back within the cooldown, and leave the master and other instances of the service', async () => {
    const user = await newUser()
    const [service, other] = [await scaled(user), await scaled(user)]
    const given = await grown(service, 3)
    await grown(other, 1)
    const [guest] = await rows.instances(user, { service: { existing: { uuid: service.uuid } } })
    await unconfigure(service)
    const { retired, start } = await closing(service)
    assert.deepEqual(
      new Map(retired.map(({ settings, drainMs }) => [settings.name, drainMs])),
      new Map(given.map(({ name }) => [name, testCooldownMs])),
    )
    assert.equal(start, undefined)
    const staying = (await marks(service)).filter(({ isRetired }) => !isRetired).map(({ uuid }) => uuid)
    assert.deepEqual(staying, [service.master.uuid, guest!.uuid])
    assert.equal((await clones(other)).length, 1)
    // A repeat returns the same clones, so that they are told again until they are gone.
    assert.equal((await closing(service)).retired.length, 3)
    const [decision, ...before] = await lastDecisions(database(), service.uuid)
    assert.ok(decision)
    assert.partialDeepStrictEqual(decision.report, { cause: { kind: 'closed' }, before: 4, after: 1 })
    assert.deepEqual(
      decision.report.givenBack,
      given.map(({ name }) => name),
    )
    assert.deepEqual(
      before.map(({ report }) => report.cause.kind),
      ['align'],
    )
  })

  it('start a stopped master, under one id, and start no other master', async () => {
    const user = await newUser()
    for (const [state, more, starts] of [
      [InstanceState.Stopped, {}, true],
      // A start is asked for although the master is still stopping: its workflow starts it after the stop.
      [InstanceState.Stopping, {}, true],
      [InstanceState.Draining, {}, true],
      [InstanceState.Stopped, { restartNextAtMs: Date.now() + 60_000 }, false],
      [InstanceState.Running, {}, false],
      [InstanceState.Standby, {}, false],
    ] as const) {
      const service = await scaled(user)
      await tell(service.master, state, more)
      await unconfigure(service)
      const { start } = await closing(service)
      assert.equal(start?.master.instanceUuid, starts ? service.master.uuid : undefined)
      assert.deepEqual((await closing(service)).start, start)
    }
  })

  it('start the master also if a process reserved its place and died before the start', async () => {
    const service = await scaled(await newUser())
    await tell(service.master, InstanceState.Stopped)
    await unconfigure(service)
    const { start } = await closing(service)
    await db()
      .updateTable('instances')
      .set({ liveReservedUntil: fromNow(60_000) })
      .where('uuid', '=', service.master.uuid)
      .execute()
    assert.deepEqual((await closing(service)).start, start)
    assert.notEqual(start, undefined)
  })

  it('start no master that is deleted', async () => {
    const service = await scaled(await newUser())
    await tell(service.master, InstanceState.Stopped)
    await unconfigure(service)
    await db()
      .updateTable('instances')
      .set({ deletedAt: now })
      .where('uuid', '=', service.master.uuid)
      .execute()
    assert.equal((await closing(service)).start, undefined)
  })

  it('are removed once their clones are given back, and not before', async () => {
    const service = await scaled(await newUser())
    await grown(service, 2)
    assert.equal(await removeAutoscaleRow(database(), service.uuid), false)
    await unconfigure(service)
    assert.equal(await removeAutoscaleRow(database(), service.uuid), false)
    await closing(service)
    assert.equal(await removeAutoscaleRow(database(), service.uuid), true)
    assert.equal(await removeAutoscaleRow(database(), service.uuid), true)
    assert.deepEqual(await close(service), { kind: 'over' })
    assert.deepEqual(await align(service, 3), { closing: true })
  })

  it('do nothing if the service is configured again meanwhile', async () => {
    const service = await scaled(await newUser())
    await grown(service, 2)
    await unconfigure(service)
    const { retired } = await closing(service)
    await configure(service)
    assert.deepEqual(await close(service), { kind: 'kept' })
    assert.equal(await removeAutoscaleRow(database(), service.uuid), false)
    assert.equal(await target(service), null)
    // The clones of the earlier configuration are being given back; new ones take their place.
    const aligned = await align(service, 3)
    assert.ok(aligned.closing === undefined)
    assert.deepEqual([aligned.before, aligned.after, aligned.retired], [1, 3, []])
    const staying = (await clones(service)).map(({ uuid }) => uuid)
    assert.equal(staying.length, 2)
    for (const { settings } of retired) assert.ok(!staying.includes(settings.instanceUuid))
  })

  it('are found by the sweep with the clones that are given back', async () => {
    const user = await newUser()
    const [service, inForce] = [await scaled(user), await scaled(user)]
    await grown(service, 2)
    await unconfigure(service)
    const uuids = async (found: Promise<readonly { readonly serviceUuid: string }[]>) =>
      (await found)
        .map(({ serviceUuid }) => serviceUuid)
        .filter((uuid) => [service.uuid, inForce.uuid].includes(uuid))
    assert.deepEqual(await uuids(findDeletedAutoscales(database(), all)), [service.uuid])
    assert.deepEqual(await uuids(findUnstartedAutoscales(database(), all)), [inForce.uuid])
    await markAutoscaleStarted(database(), [inForce.uuid])
    assert.deepEqual(await uuids(findUnstartedAutoscales(database(), all)), [])
    assert.deepEqual(await uuids(findDeletedAutoscales(database(), { ...all, olderThanMs: 60_000 })), [])

    const { retired } = await closing(service)
    const own = retired.map(({ settings }) => settings.instanceUuid)
    const found = async () =>
      (await findRetiredClones(database(), all)).filter(({ settings }) => own.includes(settings.instanceUuid))
    assert.deepEqual(
      (await found()).map(({ drainMs }) => drainMs),
      [testCooldownMs, testCooldownMs],
    )
    await db().updateTable('instances').set({ deletedAt: now }).where('uuid', '=', own[0]!).execute()
    assert.deepEqual(
      (await found()).map(({ settings }) => settings.instanceUuid),
      [own[1]],
    )
  })
})

describe('a look at autoscaled services', () => {
  const rows = autoscaleRows()
  const { newUser, scaled, unconfigure, grown, align, tell, instances, db } = rows
  const hearLast = (silentMs: number) =>
    db()
      .updateTable('nodes')
      .set({ heartbeatAt: ago(silentMs) })
      .where('id', '=', 'local')
      .execute()
  const look = (...services: readonly { readonly uuid: string }[]) =>
    readAutoscaleMembers(
      rows.database(),
      services.map(({ uuid }) => uuid),
    )

  it('tells configuration and members, the master first', async () => {
    const user = await newUser()
    const policies = [
      { name: 'up', metric: 'cpu', adjustmentType: 'change', steps: [{ lowerBound: 800, adjustment: 1 }] },
    ] as const
    const configuration = { minSize: 2, maxSize: 5, warmupMs: 300, cooldownMs: 400, policies }
    const service = await scaled(user, configuration)
    const [running, waiting] = await grown(service, 2)
    const [startedAtMs, nextAtMs] = [Date.UTC(2026, 0, 2, 3, 4, 5, 678), Date.UTC(2026, 0, 3, 1, 2, 3, 4)]
    await tell(running!, InstanceState.Running, { startedAtMs, startCount: 3 })
    await tell(waiting!, InstanceState.Stopped, {
      restartNextAtMs: nextAtMs,
      restartAttempt: 2,
      failure: 'the host is full',
    })
    const [found] = await look(service)
    assert.ok(found)
    assert.partialDeepStrictEqual(found, {
      serviceUuid: service.uuid,
      masterUuid: service.master.uuid,
      configuration,
      members: [
        { uuid: service.master.uuid, name: service.master.name, isMaster: true, nodeId: 'local' },
        { uuid: running!.uuid, isMaster: false, state: 'running', startedAtMs, startCount: 3 },
        { state: 'stopped', restartNextAtMs: nextAtMs, restartAttempt: 2, failure: 'the host is full' },
      ],
    })
    assert.equal(found.members.length, 3)
    assert.equal(found.members[1]?.createdAtMs, running!.createdAt.getTime())
    assert.ok(!('startedAtMs' in found.members[2]!))
  })

  it('tells which instances are on a host that is silent for so long that it gets no new instances', async () => {
    const service = await scaled(await newUser())
    const lost = async (silentMs: number) => {
      await hearLast(silentMs)
      return (await look(service))[0]?.members.map(({ isHostLost }) => isHostLost)
    }
    try {
      assert.deepEqual(await lost(21_000), [true])
    } finally {
      assert.deepEqual(await lost(15_000), [undefined])
    }
  })

  it('tells which instances are on a host that is gone: silent for over a minute in which another host was heard', async () => {
    const service = await scaled(await newUser())
    const gone = async (
      silentS: number,
      other?: { readonly silentS: number; readonly heardForS: number },
    ) => {
      await hearLast(silentS * 1_000)
      const empty = { agentUrl: '', agentSecret: '', accelerator: 'tcg' as const, version: '', subnet: '' }
      if (other !== undefined) {
        const heard = { heartbeatAt: ago(other.silentS * 1_000), heardSince: ago(other.heardForS * 1_000) }
        const host = { ...empty, ...heard, id: 'other', memoryMb: 0, nextAddress: 0 }
        await db().insertInto('nodes').values(host).execute()
      }
      const members = (await look(service))[0]?.members.map(({ isHostGone }) => isHostGone)
      await db().deleteFrom('nodes').where('id', '=', 'other').execute()
      return members?.[0] ?? false
    }
    try {
      assert.equal(await gone(65, { silentS: 2, heardForS: 70 }), true)
      assert.equal(await gone(3_600, { silentS: 30, heardForS: 4_000 }), true)
      assert.equal(await gone(59, { silentS: 0, heardForS: 70 }), false)
      // The other host has been heard for only 55 s. Before that the platform may have been down itself.
      assert.equal(await gone(3_600, { silentS: 2, heardForS: 55 }), false)
      // Both hosts went silent at about the same time, so the platform may have been down.
      assert.equal(await gone(3_600, { silentS: 3_570, heardForS: 4_000 }), false)
      // There is no other host that could take over its instances.
      assert.equal(await gone(3_600), false)
    } finally {
      assert.equal(await gone(0), false)
    }
  })

  it('leaves out instances that are given back, deleted or no members, and services without a configuration', async () => {
    const user = await newUser()
    const [service, unconfigured, headless] = [await scaled(user), await scaled(user), await scaled(user)]
    const [kept, gone] = await grown(service, 3)
    await align(service, 3)
    await db().updateTable('instances').set({ deletedAt: now }).where('uuid', '=', gone!.uuid).execute()
    await instances(user, { service: { existing: { uuid: service.uuid } } })
    await unconfigure(unconfigured)
    await db()
      .updateTable('autoscaleConfigurations')
      .set({ masterUuid: null })
      .where('serviceUuid', '=', headless.uuid)
      .execute()
    const found = await look(service, unconfigured, headless, { uuid: user.uuid })
    assert.deepEqual(
      found.map(({ serviceUuid, members }) => [serviceUuid, members.map(({ uuid }) => uuid)]),
      [[service.uuid, [service.master.uuid, kept!.uuid]]],
    )
  })
})
