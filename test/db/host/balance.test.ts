import { strict as assert } from 'node:assert'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { setUse } from '../../../src/db/host/administration.ts'
import { HostUse } from '../../../src/domain/host/use.ts'
import { readBalance } from '../../../src/db/host/balance.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { testMount as mount } from '../../support/volume-records.ts'

describe('a balance of hosts with volumes', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'balance' })
    user = await addUser(database, { name: 'ann' })
    for (const id of ['h1', 'h2']) {
      await addNode(database, { id, memoryMb: 2_000 })
      await update('nodes', id, { meshKey: id })
    }
    await setUse(database, 'h2', HostUse.Cordoned)
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  const update = async (table: 'nodes', id: string, values: object) =>
    await database.db.updateTable(table).set(values).where('id', '=', id).execute()
  const setVolumes = async (values: object) => await database.db.updateTable('volumes').set(values).execute()
  const make = async (name: string, volumeMb?: number) => {
    const volume = volumeMb === undefined ? {} : { volume: { made: { sizeMb: volumeMb }, mount } }
    const wanted = wantedInstance(user, { name, memoryMb: 512, ...volume })
    const outcome = await insertInstances({ database, secretBox: testSecretBox }, wanted)
    assert.ok(outcome.ok, JSON.stringify(outcome))
  }
  const planned = async () => {
    await setUse(database, 'h2', HostUse.Open)
    return (await readBalance(database, 10)).map(({ instance: { name }, to }) => `${name} to ${to.hostId}`)
  }

  it('moves those without a volume first, and those with one where it fits', async () => {
    await make('large', 500)
    await make('small', 100)
    await setVolumes({ phase: 'ready', made: true })
    assert.deepEqual(await planned(), ['small to h2'])
    await setUse(database, 'h2', HostUse.Cordoned)
    await make('plain')
    assert.deepEqual(await planned(), ['plain to h2'])
  })

  it('leaves them where their volume finds no room, or is not ready', async () => {
    await make('large', 500)
    await make('small', 100)
    assert.deepEqual(await planned(), [], 'they are not made yet')
    await setVolumes({ phase: 'ready', made: true })
    await update('nodes', 'h2', { volumeMb: 99 })
    assert.deepEqual(await planned(), [])
    await update('nodes', 'h2', { volumeMb: 100 })
    assert.deepEqual(await planned(), ['small to h2'])
  })
})
