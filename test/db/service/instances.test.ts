import { strict as assert } from 'node:assert'
import { findByUuids, markDeleted } from '../../../src/db/instance/instances.ts'
import { deleteService, listServices } from '../../../src/db/service/services.ts'
import { markEphemeralDeleted, removeInstanceRow } from '../../../src/db/instance/records.ts'
import { serviceRecords } from '../../support/service-records.ts'
import { readRows } from '../../support/rows.ts'

describe('services and their instances', () => {
  const {
    database,
    newUser,
    wanted,
    created,
    createInstance,
    instances,
    whileHeld,
    find,
    count,
    certificates,
  } = serviceRecords()

  it('that are made with an instance are deleted with it, and release their domains', async () => {
    const user = await newUser()
    for (const [round, remove] of [
      (uuid: string) => markDeleted(database(), user.uuid, uuid),
      (uuid: string) => markEphemeralDeleted(database(), uuid),
    ].entries()) {
      const made = wanted([443], ['with-one', `www.with-one-${round}.example.`])
      const [row] = await instances(user, { service: { made } })
      const service = await find(user, row?.serviceUuid)
      assert.deepEqual([service?.persistent, service?.instances.length], [false, 1])
      await remove(row!.uuid)
      assert.equal(await find(user, row?.serviceUuid), undefined)
      assert.equal(await count('domains where fqdn', 'with-one.metro.test'), 0)
      assert.equal((await certificates(user)).length, round + 1)
      // A repeat of the delete finds nothing to do: the row is only marked, until it is removed.
      await remove(row!.uuid)
      await removeInstanceRow(database(), row!.uuid)
    }
  })

  it('stay while the instance is stopped', async () => {
    const user = await newUser()
    const [row] = await instances(user, { service: { made: wanted([443]) } })
    assert.deepEqual(await findByUuids(database(), [row!.uuid]), [row])
    assert.ok(await find(user, row?.serviceUuid))
  })

  it('are persistent from the second instance on', async () => {
    const user = await newUser()
    const [first] = await instances(user, { service: { made: wanted([443]) } })
    const uuid = first!.serviceUuid!
    const [second] = await instances(user, { service: { existing: { uuid } } })
    assert.equal((await find(user, uuid))?.persistent, true)
    await markDeleted(database(), user.uuid, first!.uuid)
    await markDeleted(database(), user.uuid, second!.uuid)
    assert.deepEqual((await find(user, uuid))?.instances, [])
    assert.equal(await deleteService(database(), user.uuid, uuid), 'deleted')
  })

  it('that replicas share are one, and persistent', async () => {
    const user = await newUser()
    const rows = await instances(user, { replicas: 2, service: { made: wanted([443]) } })
    assert.equal(new Set(rows.map((row) => row.serviceUuid)).size, 1)
    const service = await find(user, rows[0]?.serviceUuid)
    assert.equal(service?.persistent, true)
    assert.deepEqual(
      service?.instances,
      rows.map(({ uuid, name }) => ({ uuid, name })),
    )
  })

  it('that are persistent stay without any instance', async () => {
    const user = await newUser()
    const service = await created(user, wanted([443]))
    const [row] = await instances(user, { service: { existing: { name: service.name } } })
    assert.equal(row?.serviceUuid, service.uuid)
    await markDeleted(database(), user.uuid, row.uuid)
    assert.ok(await find(user, service.uuid))
  })

  it('are not deleted while an instance is attached', async () => {
    const user = await newUser()
    const service = await created(user, wanted([443]))
    const [row] = await instances(user, { service: { existing: { uuid: service.uuid } } })
    assert.equal(await deleteService(database(), user.uuid, service.uuid), 'attached')
    await markDeleted(database(), user.uuid, row!.uuid)
    assert.equal(await deleteService(database(), user.uuid, service.uuid), 'deleted')
    assert.equal(await deleteService(database(), user.uuid, service.uuid), 'not-found')
  })

  it('are not deleted if the delete waits for an instance that is being attached', async () => {
    const user = await newUser()
    const service = await created(user, wanted([443]))
    const [attached, deleted] = await whileHeld(
      (db) => db.selectFrom('nodes').select('id').forUpdate().execute(),
      (blocked) => [
        createInstance(user, { service: { existing: { uuid: service.uuid } } }),
        blocked(1).then(() => deleteService(database(), user.uuid, service.uuid)),
      ],
      2,
    )
    assert.deepEqual([attached.ok, deleted], [true, 'attached'])
    assert.equal((await find(user, service.uuid))?.instances.length, 1)
  })

  it('are either deleted or get a new instance if both are asked for at once', async () => {
    for (let round = 0; round < 8; round++) {
      const user = await newUser()
      const service = await created(user, wanted([443]))
      const [attached, deleted] = await Promise.all([
        createInstance(user, { service: { existing: { uuid: service.uuid } } }),
        deleteService(database(), user.uuid, service.uuid),
      ])
      if (attached.ok) {
        assert.equal(deleted, 'attached')
        assert.equal(attached.instances[0]?.serviceUuid, service.uuid)
      } else {
        assert.deepEqual([attached.refusal.kind, deleted], ['service-not-found', 'deleted'])
      }
    }
  })

  it('are deleted with their only instance or live on with a second one, whichever comes first', async () => {
    for (let round = 0; round < 30; round++) {
      const user = await newUser()
      const [first] = await instances(user, { service: { made: wanted([443]) } })
      const uuid = first!.serviceUuid!
      const [second] = await Promise.all([
        createInstance(user, { service: { existing: { uuid } } }),
        markDeleted(database(), user.uuid, first!.uuid),
      ])
      const service = await find(user, uuid)
      assert.equal(service !== undefined, second.ok)
      if (second.ok) assert.equal(second.instances[0]?.serviceUuid, uuid)
    }
  })

  it('of other users get no instance', async () => {
    const [user, other] = [await newUser(), await newUser()]
    const { uuid } = await created(user, wanted([443]))
    const outcome = await createInstance(other, { service: { existing: { uuid } } })
    assert.deepEqual(!outcome.ok && outcome.refusal, { kind: 'service-not-found', by: 'uuid', value: uuid })
  })

  it('leave nothing if their instance can not be made', async () => {
    const user = await newUser()
    await readRows(database(), { text: "update nodes set heartbeat_at = now() - interval '1 h'" })
    try {
      const made = wanted([443], ['left', 'www.left.example.'])
      const outcome = await createInstance(user, { service: { made } })
      assert.equal(!outcome.ok && outcome.refusal.kind, 'no-node')
    } finally {
      await readRows(database(), { text: 'update nodes set heartbeat_at = now()' })
    }
    assert.deepEqual(await listServices(database(), { userUuid: user.uuid }), [])
    assert.deepEqual(await certificates(user), [])
    assert.equal(await count('domains where fqdn', 'left.metro.test'), 0)
  })
})
