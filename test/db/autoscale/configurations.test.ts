import { strict as assert } from 'node:assert'
import { sql } from 'kysely'
import { lockUser } from '../../../src/db/account/user-lock.ts'
import { insertAutoscale, deleteAutoscale, findAutoscale } from '../../../src/db/autoscale/configurations.ts'
import type { NewAutoscale } from '../../../src/db/autoscale/configurations.ts'
import { addPolicies, deletePolicies } from '../../../src/db/autoscale/policies.ts'
import { markAutoscaleStarted, findUnstartedAutoscales } from '../../../src/db/autoscale/records.ts'
import type { InstanceRow } from '../../../src/db/instance/row.ts'
import { findInstances, markDeleted, reserveLive } from '../../../src/db/instance/instances.ts'
import { openInstanceWatch } from '../../../src/db/instance/watch.ts'
import { findGoneWithMaster } from '../../../src/db/autoscale/masters.ts'
import { deleteService } from '../../../src/db/service/services.ts'
import { markEphemeralDeleted, removeInstanceRow } from '../../../src/db/instance/records.ts'
import { setQuotas } from '../../../src/db/account/users.ts'
import type { AutoscalePolicy } from '../../../src/domain/autoscale/policy.ts'
import type { QuotaLimits } from '../../../src/domain/account/quotas.ts'
import { addClone, fateOf } from '../../support/autoscale-records.ts'
import { until } from '../../support/until.ts'
import { refusalOf, testMount, volumeRecords } from '../../support/volume-records.ts'

/** The time limit of a wait. A notification ends the wait within milliseconds; without it the wait fails. */
const toldWithinMs = 5_000

const policy = (name: string): AutoscalePolicy => ({
  name,
  metric: 'cpu',
  adjustmentType: 'change',
  steps: [{ lowerBound: 500, adjustment: 1 }],
})

describe('an autoscale configuration', () => {
  const { database, newUser, instances, available, attach, wantedService } = volumeRecords()

  type User = Awaited<ReturnType<typeof newUser>>
  /**
   * A user with an instance and the service that was made with it. Such a service is deleted with its
   * instance, unless autoscale is configured for it.
   */
  const scene = async () => {
    const user = await newUser()
    const [master] = await instances(user, { name: 'web', service: { made: wantedService([443]) } })
    assert.ok(master?.serviceUuid)
    return { user, master, service: master.serviceUuid }
  }
  const configure = (user: User, master: InstanceRow, more: Partial<NewAutoscale> = {}) =>
    insertAutoscale(database(), {
      userUuid: user.uuid,
      serviceUuid: master.serviceUuid!,
      master: { uuid: master.uuid },
      warmupMs: 1_000,
      cooldownMs: 2_000,
      policies: [policy('grow')],
      ...more,
    })
  const configured = async () => {
    const made = await scene()
    const outcome = await configure(made.user, made.master)
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return { ...made, settings: outcome.settings }
  }
  const read = async (user: User, service: string) =>
    (await findAutoscale(database(), user.uuid, [service])).get(service)
  const limit = async (user: User, limits: Partial<QuotaLimits>) =>
    assert.ok((await setQuotas(database(), user.name, { limits })).ok)
  const serviceRow = (service: string) =>
    database()
      .db.selectFrom('services')
      .select(['name', 'persistent'])
      .where('uuid', '=', service)
      .executeTakeFirst()
  const isPersistent = async (service: string) => (await serviceRow(service))?.persistent

  const nameOf = async (service: string) => (await serviceRow(service))?.name

  it('is read as it was written, and makes its service persistent', async () => {
    const { user, master, service } = await scene()
    assert.equal(await isPersistent(service), false)
    const outcome = await configure(user, master, { minSize: 2, maxSize: 8 })
    assert.ok(outcome.ok)
    const { serviceUuid, userUuid, serviceName } = outcome.settings
    assert.deepEqual([serviceUuid, userUuid], [service, user.uuid])
    assert.ok(serviceName !== '')
    assert.deepEqual(await read(user, service), {
      serviceUuid: service,
      minSize: 2,
      maxSize: 8,
      warmupMs: 1_000,
      cooldownMs: 2_000,
      policies: [policy('grow')],
      master: { uuid: master.uuid, name: 'web' },
    })
    assert.equal(await isPersistent(service), true)
  })

  it('has the sizes nearest to the defaults that the limits of the account allow', async () => {
    for (const [minAutoscaleSize, maxAutoscaleSize, sizes] of [
      [1, 32, [1, 4]],
      [1, 2, [1, 2]],
      [2, 3, [2, 3]],
      [6, 9, [6, 6]],
    ] as const) {
      const { user, master, service } = await scene()
      await limit(user, { minAutoscaleSize, maxAutoscaleSize })
      assert.ok((await configure(user, master)).ok)
      const row = await read(user, service)
      assert.deepEqual([row?.minSize, row?.maxSize], sizes)
    }
  })

  it('keeps to the limits of the account, and is refused for an account without autoscale', async () => {
    const { user, master } = await scene()
    await limit(user, { minAutoscaleSize: 2, maxAutoscaleSize: 5 })
    const refused = async (sizes: Partial<NewAutoscale>) => refusalOf(await configure(user, master, sizes))
    const breach = { min: 2, max: 5 }
    for (const [sizes, parameter, value] of [
      [{ minSize: 1 }, 'min_size', 1],
      [{ minSize: 6 }, 'min_size', 6],
      [{ maxSize: 6 }, 'max_size', 6],
      [{ maxSize: 1 }, 'max_size', 1],
      [{ minSize: 2, maxSize: -3 }, 'max_size', -3],
    ] as const) {
      assert.deepEqual(await refused(sizes), {
        kind: 'autoscale-size',
        breach: { parameter, value, ...breach },
      })
    }
    assert.deepEqual(await refused({ minSize: 5 }), { kind: 'autoscale-sizes-crossed', min: 5, max: 4 })
    await limit(user, { minAutoscaleSize: 1, maxAutoscaleSize: 1 })
    assert.deepEqual(await refused({}), { kind: 'autoscale-disabled' })
  })

  it('is refused for an instance that can not be cloned', async () => {
    const { user, master, service } = await scene()
    const [other] = await instances(user, { name: 'apart', service: { made: wantedService([443]) } })
    const refused = async (named: NewAutoscale['master']) =>
      refusalOf(await configure(user, master, { master: named }))
    assert.deepEqual(await refused({ name: 'nobody' }), {
      kind: 'instance-not-found',
      by: 'name',
      value: 'nobody',
    })
    assert.deepEqual(await refused({ uuid: other!.uuid }), {
      kind: 'master-not-attached',
      name: 'apart',
      service: await nameOf(service),
    })
    const clone = await addClone(database(), master)
    assert.deepEqual(await refused({ uuid: clone.uuid }), { kind: 'master-is-clone', name: clone.name })
    const volume = await available(user)
    assert.ok((await attach(user, volume, master)).ok)
    assert.deepEqual(await refused({ name: 'web' }), {
      kind: 'master-has-volume',
      name: 'web',
      volume: volume.name,
    })
  })
  it('is one per service, whichever master the second has', async () => {
    const { user, master, service } = await configured()
    const [second] = await instances(user, { name: 'second', service: { existing: { uuid: service } } })
    const taken = { kind: 'autoscale-configured', service: await nameOf(service), master: 'web' }
    assert.deepEqual(refusalOf(await configure(user, master)), taken)
    assert.deepEqual(refusalOf(await configure(user, second!)), taken)
    assert.equal((await read(user, service))?.master.uuid, master.uuid)
  })

  it('is written once if several ask for it at once', async () => {
    const { user, master, service } = await scene()
    const outcomes = await Promise.all([2, 3, 4, 5].map((maxSize) => configure(user, master, { maxSize })))
    const won = outcomes.filter((outcome) => outcome.ok)
    assert.equal(won.length, 1)
    const refusals = outcomes.flatMap((outcome) => (outcome.ok ? [] : outcome.refusal.kind))
    assert.deepEqual(
      refusals,
      Array.from({ length: 3 }, () => 'autoscale-configured'),
    )
    assert.equal((await read(user, service))?.maxSize, [2, 3, 4, 5][outcomes.findIndex(({ ok }) => ok)])
  })

  it('belongs to its user: others neither see nor change it', async () => {
    const { master, service } = await configured()
    const other = await newUser()
    assert.equal(await read(other, service), undefined)
    const unknown = { kind: 'service-not-found', by: 'uuid', value: service }
    assert.deepEqual(refusalOf(await configure(other, master)), unknown)
    assert.deepEqual(refusalOf(await deleteAutoscale(database(), other.uuid, service)), unknown)
    const of = { userUuid: other.uuid, uuid: service, name: 'theirs' }
    const unconfigured = { kind: 'autoscale-not-configured', service: 'theirs' }
    assert.deepEqual(refusalOf(await addPolicies(database(), of, [policy('x')])), unconfigured)
    assert.deepEqual(refusalOf(await deletePolicies(database(), of, ['grow'])), unconfigured)
  })

  describe('that is deleted', () => {
    it('is not found any more, and gives all clones back in the same moment', async () => {
      const { user, master, service } = await configured()
      const clones = [await addClone(database(), master), await addClone(database(), master)]
      const deleted = await deleteAutoscale(database(), user.uuid, service)
      assert.ok(deleted.ok && deleted.settings.serviceUuid === service)
      assert.equal(await read(user, service), undefined)
      for (const { uuid } of clones) {
        assert.deepEqual(await fateOf(database(), uuid), { deleted: false, retired: true, drainMs: 2_000 })
      }
      assert.equal((await fateOf(database(), master.uuid))?.retired, false)
      const again = refusalOf(await deleteAutoscale(database(), user.uuid, service))
      assert.deepEqual(again, { kind: 'autoscale-not-configured', service: await nameOf(service) })
    })

    it('is taken over by the next one, which begins anew', async () => {
      const { user, master, service } = await configured()
      const clone = await addClone(database(), master)
      await markAutoscaleStarted(database(), [service])
      await database()
        .db.updateTable('autoscaleConfigurations')
        .set({ target: 7 })
        .where('serviceUuid', '=', service)
        .execute()
      assert.ok((await deleteAutoscale(database(), user.uuid, service)).ok)
      const [second] = await instances(user, { name: 'second', service: { existing: { uuid: service } } })
      assert.ok((await configure(user, second!, { policies: [] })).ok)
      const row = await read(user, service)
      assert.deepEqual([row?.master.name, row?.policies], ['second', []])
      const unstarted = await findUnstartedAutoscales(database(), { olderThanMs: -1_000, limit: 100 })
      const mine = unstarted.find(({ serviceUuid }) => serviceUuid === service)
      assert.ok(mine && mine.target === undefined)
      assert.equal((await fateOf(database(), clone.uuid))?.retired, true)
    })

    it('gives back no instance that a user made', async () => {
      const { user, service } = await configured()
      const [own] = await instances(user, { service: { existing: { uuid: service } } })
      assert.ok((await deleteAutoscale(database(), user.uuid, service)).ok)
      assert.deepEqual(await fateOf(database(), own!.uuid), { deleted: false, retired: false, drainMs: null })
    })

    it('has clones that nobody starts any more', async () => {
      const { user, master, service } = await configured()
      const clone = await addClone(database(), master)
      assert.ok((await reserveLive(database(), user.uuid, clone.uuid)).ok)
      await deleteAutoscale(database(), user.uuid, service)
      assert.deepEqual(refusalOf(await reserveLive(database(), user.uuid, clone.uuid)), { kind: 'retired' })
    })
  })

  describe('whose master is deleted', () => {
    for (const [how, remove] of [
      ['by its user', (user: User, uuid: string) => markDeleted(database(), user.uuid, uuid)],
      ['by its own stop', (_user: User, uuid: string) => markEphemeralDeleted(database(), uuid)],
    ] as const) {
      it(`${how} goes with it, and so do the clones, without a drain`, async () => {
        const { user, master, service } = await configured()
        const clone = await addClone(database(), master)
        const bystander = await addClone(database(), (await configured()).master)
        await remove(user, master.uuid)
        assert.equal(await read(user, service), undefined)
        assert.deepEqual(await findInstances(database(), { userUuid: user.uuid }, [{ uuid: clone.uuid }]), [
          undefined,
        ])
        assert.deepEqual(await fateOf(database(), clone.uuid), {
          deleted: true,
          retired: false,
          drainMs: null,
        })
        assert.equal((await fateOf(database(), bystander.uuid))?.deleted, false)
        const gone = await findGoneWithMaster(database(), master)
        assert.deepEqual(
          [gone.configurations.map((one) => one.serviceUuid), gone.clones.map((one) => one.instanceUuid)],
          [[service], [clone.uuid]],
        )
        // The service was made with the master, but the configuration made it persistent. So it is still
        // there.
        assert.equal(await deleteService(database(), user.uuid, service), 'deleted')
      })
    }

    it('tells those who wait for a clone that it is gone', async () => {
      const { user, master } = await configured()
      const { uuid } = await addClone(database(), master)
      const watch = await openInstanceWatch(database())
      try {
        const looked = Promise.withResolvers<void>()
        const read = () => findInstances(database(), { userUuid: user.uuid }, [{ uuid }])
        const isSatisfied = ([clone]: Awaited<ReturnType<typeof read>>) => {
          looked.resolve()
          return clone === undefined
        }
        const waiting = watch.waitForRead([uuid], { read, isSatisfied }, { timeoutMs: toldWithinMs })
        await looked.promise
        await markDeleted(database(), user.uuid, master.uuid)
        assert.ok((await waiting).satisfied)
      } finally {
        await watch.close()
      }
    })

    it('has no master any more once the row of the master is removed', async () => {
      const { user, master, service } = await configured()
      await markDeleted(database(), user.uuid, master.uuid)
      await removeInstanceRow(database(), master.uuid)
      const row = await database()
        .db.selectFrom('autoscaleConfigurations')
        .select(['masterUuid', 'deletedAt'])
        .where('serviceUuid', '=', service)
        .executeTakeFirstOrThrow()
      assert.deepEqual([row.masterUuid, row.deletedAt === null], [null, false])
      const [second] = await instances(user, { name: 'second', service: { existing: { uuid: service } } })
      assert.ok((await configure(user, second!)).ok)
    })

    it('is found for masters only', async () => {
      const user = await newUser()
      const [alone] = await instances(user)
      assert.deepEqual(await findGoneWithMaster(database(), alone!), { configurations: [], clones: [] })
    })

    it('does not outlive a delete of its master at the same time, whichever is faster', async () => {
      for (let round = 0; round < 20; round++) {
        const { user, master, service } = await scene()
        const [made] = await Promise.all([
          configure(user, master),
          markDeleted(database(), user.uuid, master.uuid),
        ])
        assert.equal(await read(user, service), undefined)
        if (!made.ok) assert.ok(['instance-not-found', 'service-not-found'].includes(made.refusal.kind))
      }
    })

    it('leaves no clone that was made while the delete waited for a lock', async () => {
      const { user, master, service } = await configured()
      const [late] = await instances(user, { service: { existing: { uuid: service } } })
      const { deleting } = await database()
        .db.transaction()
        .execute(async (db) => {
          await lockUser(db, user.uuid)
          const marking = markDeleted(database(), user.uuid, master.uuid)
          await until('the delete waits', async () => (await waiting()) > 0, { limitMs: 30_000 })
          await db
            .updateTable('instances')
            .set({ cloneOf: master.uuid })
            .where('uuid', '=', late!.uuid)
            .execute()
          return { deleting: marking }
        })
      assert.ok(await deleting)
      assert.equal((await fateOf(database(), late!.uuid))?.deleted, true)
    })
    const waiting = async () => {
      const query = sql<{ count: number }>`select count(*) as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      const { rows } = await query.execute(database().db)
      return rows[0]?.count ?? 0
    }
  })

  describe('and volumes', () => {
    it('are refused for masters and clones', async () => {
      const { user, master, service } = await configured()
      const clone = await addClone(database(), master)
      const volume = await available(user)
      assert.deepEqual(refusalOf(await attach(user, volume, master, testMount)), {
        kind: 'volume-for-master',
        name: 'web',
        service: await nameOf(service),
      })
      assert.deepEqual(refusalOf(await attach(user, volume, clone)), {
        kind: 'volume-for-clone',
        name: clone.name,
      })
      assert.ok((await deleteAutoscale(database(), user.uuid, service)).ok)
      assert.ok((await attach(user, volume, master)).ok)
    })

    it('are attached before the configuration is written or not at all', async () => {
      for (let round = 0; round < 10; round++) {
        const { user, master } = await scene()
        const volume = await available(user)
        const [made, attached] = await Promise.all([configure(user, master), attach(user, volume, master)])
        assert.notEqual(made.ok, attached.ok)
        const kinds = [made, attached].flatMap((one) => (one.ok ? [] : one.refusal.kind))
        assert.ok(['master-has-volume', 'volume-for-master'].includes(kinds[0] ?? ''), kinds.join())
      }
    })
  })
})
