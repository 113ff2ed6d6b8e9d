import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import { giveBackOrder, takeOrder } from '../../../src/db/certificate/authority-orders.ts'
import type { OrderPermit } from '../../../src/db/certificate/authority-orders.ts'
import { addAttempt, endAttempt } from '../../../src/db/certificate/attempts.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { json } from '../../../src/db/postgres-client.ts'
import type { OrderPace } from '../../../src/domain/certificate/order-pace.ts'
import { CertificateState } from '../../../src/domain/service/handler.ts'
import { addUser } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'

const hourMs = 3_600_000
const directory = 'https://authority.test/directory'
/**
 * Of eight orders in three hours one user may have two. New certificates get six; the rest is for renewals.
 */
const pace: OrderPace = { orders: 8, windowMs: 3 * hourMs, nameOrders: 5 }

describe('orders that are counted', () => {
  let own: TestDatabase
  let databases: readonly [Database, Database]
  let ann: string
  let bob: string
  const nowMs = Date.parse('2030-01-01T00:00:00Z')

  before(async () => {
    own = await createTestDatabase()
    const open = () => openDatabase({ url: own.url, applicationName: 'paced orders' })
    databases = [await open(), await open()]
    ann = (await addUser(databases[0], { name: 'ann' })).uuid
    bob = (await addUser(databases[0], { name: 'bob' })).uuid
    for (const name of ['dan', 'eve']) await addUser(databases[0], { name })
  })
  after(async () => {
    await Promise.all(databases.map((database) => database.close()))
    await own.drop()
  })
  beforeEach(async () => {
    for (const table of ['authorityOrders', 'domains', 'services', 'certificates'] as const)
      await databases[0].db.deleteFrom(table).execute()
  })

  async function certificate(userUuid: string, { issued = false, used = false } = {}): Promise<string> {
    const { db } = databases[0]
    const uuid = randomUUID()
    const fqdn = `${uuid}.test`
    const state = issued ? CertificateState.Valid : CertificateState.Pending
    const chain = issued ? 'a chain' : null
    await db
      .insertInto('certificates')
      .values({ uuid, userUuid, name: uuid, commonName: fqdn, state, chain })
      .execute()
    if (!used) return uuid
    const service = { uuid: randomUUID(), userUuid, name: uuid, persistent: true }
    await db
      .insertInto('services')
      .values({ ...service, softLimit: 1, hardLimit: 1, ports: json([]) })
      .execute()
    const domain = { fqdn, serviceUuid: service.uuid, ordinal: 0, certificateUuid: uuid }
    await db.insertInto('domains').values(domain).execute()
    return uuid
  }
  const take = (uuid: string, atMs = nowMs, database = databases[0]) =>
    takeOrder(database, { uuid, directory, pace, nowMs: atMs })
  const takeNew = async (userUuid: string, of?: object) => take(await certificate(userUuid, of))
  const isMade = (permit: OrderPermit) => permit !== 'gone' && 'number' in permit

  it('hold back the user who made many, and no other user', async () => {
    for (let count = 0; count < 2; count++) assert.ok(isMade(await takeNew(ann)))
    const putOff = await takeNew(ann)
    assert.partialDeepStrictEqual(putOff, { retryAtMs: nowMs + 3 * hourMs })
    assert.ok(isMade(await takeNew(bob)))
  })

  it('of one user may be more if there are fewer users', async () => {
    const { db } = databases[0]
    await db.deleteFrom('users').where('name', 'in', ['dan', 'eve']).execute()
    for (let count = 0; count < 4; count++) assert.ok(isMade(await takeNew(ann)))
    assert.ok(!isMade(await takeNew(ann)))
    for (const name of ['dan', 'eve']) await addUser(databases[0], { name })
  })

  it('still count when their certificates are deleted, and as long as the authority counts them', async () => {
    for (let count = 0; count < 2; count++) assert.ok(isMade(await takeNew(ann)))
    const { db } = databases[0]
    await db.deleteFrom('certificates').execute()
    const later = await certificate(ann)
    assert.ok(!isMade(await take(later)))
    assert.ok(!isMade(await take(later, nowMs + 3 * hourMs - 1)))
    assert.ok(isMade(await take(later, nowMs + 3 * hourMs)))
    const counted = await db.selectFrom('authorityOrders').select('number').execute()
    assert.equal(counted.length, 1, 'what counts no more is forgotten')
  })

  it('are never too many, however many workers count at the same time', async () => {
    const uuids = await Promise.all(Array.from({ length: 20 }, () => certificate(ann)))
    const permits = await Promise.all(
      uuids.map((uuid, index) => take(uuid, nowMs, databases[index % 2 === 0 ? 0 : 1])),
    )
    assert.equal(permits.filter(isMade).length, 2)
  })

  it('leave a share to renewals of certificates in use, and treat unused certificates like new ones', async () => {
    for (let count = 0; count < 2; count++) assert.ok(isMade(await takeNew(ann)))
    assert.ok(!isMade(await takeNew(ann, { issued: true })))
    assert.ok(isMade(await takeNew(ann, { issued: true, used: true })))
  })

  it('that wait count as ahead of others only while their attempt goes on', async () => {
    const waiting = [await certificate(ann), await certificate(ann), await certificate(ann)]
    const last = await certificate(ann)
    for (let count = 0; count < 2; count++) assert.ok(isMade(await takeNew(ann)))
    const { db } = databases[0]
    const nextAt = new Date(nowMs + hourMs)
    for (const uuid of waiting) {
      await db.updateTable('certificates').set({ nextAt }).where('uuid', '=', uuid).execute()
      await addAttempt(databases[0], uuid)
    }
    // Three orders are ahead, and each three hours bring two places. So two of them go first, after 3 h. The
    // third goes together with the last one, after 6 h.
    assert.partialDeepStrictEqual(await take(last), { retryAtMs: nowMs + 6 * hourMs })
    for (const uuid of waiting) await endAttempt(databases[0], { uuid, number: 1 })
    assert.partialDeepStrictEqual(await take(last), { retryAtMs: nowMs + 3 * hourMs })
  })

  it('that the authority did not take are given back', async () => {
    assert.ok(isMade(await takeNew(ann)))
    const permit = await takeNew(ann)
    assert.ok(permit !== 'gone' && 'number' in permit)
    await giveBackOrder(databases[0], permit)
    assert.ok(isMade(await takeNew(ann)))
    assert.ok(!isMade(await takeNew(ann)))
  })

  it('with another authority do not count', async () => {
    for (let count = 0; count < 2; count++) assert.ok(isMade(await takeNew(ann)))
    const uuid = await certificate(ann)
    const elsewhere = await takeOrder(databases[0], { uuid, directory: 'https://other.test', pace, nowMs })
    assert.ok(isMade(elsewhere))
  })

  it('are not made for a certificate that is gone', async () => {
    assert.equal(await take(randomUUID()), 'gone')
  })
})
