import { strict as assert } from 'node:assert'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { imagesInUse } from '../../../src/db/image/user-images.ts'
import { addNode, addUser, testImage, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'

describe('images in use', () => {
  let own: TestDatabase
  let database: Database
  before(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'images in use' })
  })
  after(async () => {
    await database.close()
    await own.drop()
  })

  it('are those of every instance of every user until it is deleted, by repository and digest', async () => {
    await addNode(database)
    const made: string[] = []
    for (const name of ['ann', 'bob']) {
      const user = await addUser(database, { name })
      const created = await insertInstances(
        { database, secretBox: testSecretBox },
        wantedInstance(user, { name: 'web' }),
      )
      assert.ok(created.ok)
      made.push(...created.instances.map(({ uuid }) => uuid))
    }
    assert.deepEqual(await imagesInUse(database), [testImage])
    for (const uuid of made)
      await readRows(database, {
        text: 'update instances set deleted_at = now() where uuid = $1',
        values: [uuid],
      })
    assert.deepEqual(await imagesInUse(database), [])
  })
})
