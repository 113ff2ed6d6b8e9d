import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { AuthorityStore } from '../../../src/acme/authority-store.ts'
import { ensureLocalAuthority, localDirectory } from '../../../src/acme/local-issuer.ts'
import { createAuthorityAccounts } from '../../../src/db/certificate/authority-accounts.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { createSecretBox, SecretBoxError, secretKeyBytes } from '../../../src/db/secret-box.ts'
import { createMemoryStore } from '../../acme/memory-store.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'

const directory = 'https://acme.example/directory'
const accountUrl = 'https://acme.example/account/1'

/** The tests that both stores have to pass: the real one, and the one that tests of issuers use. */
function conform(name: string, make: () => AuthorityStore): void {
  describe(name, () => {
    it('knows nothing of an authority that was never asked', async () => {
      assert.equal(await make().find(directory), undefined)
    })

    it('keeps the first record, and returns it to later calls', async () => {
      const store = make()
      assert.deepEqual(await store.keep(directory, { key: 'first' }), { key: 'first' })
      assert.deepEqual(await store.keep(directory, { key: 'second' }), { key: 'first' })
      assert.deepEqual(await store.find(directory), { key: 'first' })
    })

    it('keeps one of many that come at once', async () => {
      const store = make()
      const kept = await Promise.all(
        Array.from({ length: 10 }, (_, index) => store.keep(directory, { key: `key ${index}` })),
      )
      assert.equal(new Set(kept.map(({ key }) => key)).size, 1)
    })

    it('replaces a record only where it is still the one that was seen', async () => {
      const store = make()
      const [old, next, late] = ['old', 'next', 'late'].map((one) => ({ key: one, chain: `${one} root` }))
      await store.keep(localDirectory, old!)
      assert.deepEqual(await store.keep(localDirectory, next!, old), next)
      assert.deepEqual(await store.keep(localDirectory, late!, old), next)
      assert.deepEqual(await store.find(localDirectory), next)
    })

    it("notes the account's URL of the key that it was told for, and of no other", async () => {
      const store = make()
      await store.keep(directory, { key: 'first' })
      await store.noteAccountUrl(directory, { key: 'second' }, accountUrl)
      assert.deepEqual(await store.find(directory), { key: 'first' })
      await store.noteAccountUrl(directory, { key: 'first' }, accountUrl)
      assert.deepEqual(await store.find(directory), { key: 'first', accountUrl })
      await store.noteAccountUrl('https://other.example', { key: 'first' }, accountUrl)
      assert.equal(await store.find('https://other.example'), undefined)
    })

    it('keeps one account for each authority', async () => {
      const store = make()
      await store.keep(directory, { key: 'first' })
      await store.keep('https://other.example', { key: 'second' })
      assert.equal((await store.find(directory))?.key, 'first')
      assert.equal((await store.find('https://other.example'))?.key, 'second')
    })
  })
}

describe('accounts with authorities', () => {
  let own: TestDatabase
  let database: Database
  before(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'accounts' })
  })
  after(async () => {
    await database.close()
    await own.drop()
  })
  beforeEach(() => database.db.deleteFrom('authorityAccounts').execute())

  const accounts = (secretBox = testSecretBox) => createAuthorityAccounts({ database, secretBox })
  conform('in PostgreSQL', accounts)
  conform('in memory', createMemoryStore)

  it('are the same local authority for processes that start at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 4 }, () => ensureLocalAuthority(accounts(), Date.now())),
    )
    assert.equal(new Set(made.map(({ chain }) => chain)).size, 1)
    assert.equal(new Set(made.map(({ key }) => key)).size, 1)
  })

  it('have keys that can not be read in the database, nor with another key, nor in place of another', async () => {
    await accounts().keep(directory, { key: 'the private key' })
    const rows = await database.db.selectFrom('authorityAccounts').selectAll().execute()
    assert.ok(!JSON.stringify(rows).includes('private'))
    const stranger = createSecretBox(randomBytes(secretKeyBytes))
    await assert.rejects(accounts(stranger).find(directory), SecretBoxError)
    await database.db.updateTable('authorityAccounts').set({ directory: 'https://other.example' }).execute()
    await assert.rejects(accounts().find('https://other.example'), SecretBoxError)
  })
})
