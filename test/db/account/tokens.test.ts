import { strict as assert } from 'node:assert'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import {
  createToken,
  createTokenAuthenticator,
  listTokens,
  revokeToken,
} from '../../../src/db/account/tokens.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { addUser } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'

describe('tokens', () => {
  let own: TestDatabase
  let database: Database
  let ann: UserRecord
  before(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'tokens' })
    ann = await addUser(database, { name: 'ann' })
  })
  after(async () => {
    await database.close()
    await own.drop()
  })

  it('are base64 of user:secret with one colon, as clients expect them', async () => {
    const { token } = await createToken(database, { userUuid: ann.uuid })
    const decoded = Buffer.from(token, 'base64').toString()
    assert.match(decoded, /^ann:[\w-]{40,}$/)
    assert.equal(Buffer.from(decoded).toString('base64'), token)
  })

  it('tell who the bearer is and what it may see', async () => {
    const { uuid, token } = await createToken(database, { userUuid: ann.uuid, developer: true })
    assert.deepEqual(await createTokenAuthenticator(database).authenticate(token), {
      userUuid: ann.uuid,
      userName: 'ann',
      tokenUuid: uuid,
      developer: true,
      admin: false,
    })
  })

  it('are good under the user name that older clients write', async () => {
    const { token } = await createToken(database, { userUuid: ann.uuid })
    const secret = Buffer.from(token, 'base64').toString().slice('ann:'.length)
    const robot = Buffer.from(`robot$ann.users.kraftcloud:${secret}`).toString('base64')
    assert.equal((await createTokenAuthenticator(database).authenticate(robot))?.userName, 'ann')
  })

  it('are good at a registry login, whole or as the secret alone', async () => {
    const { token } = await createToken(database, { userUuid: ann.uuid })
    const secret = Buffer.from(token, 'base64').toString().slice('ann:'.length)
    const tokens = createTokenAuthenticator(database)
    assert.ok(await tokens.authenticateLogin({ user: 'ann', password: token }))
    assert.ok(await tokens.authenticateLogin({ user: 'ann', password: secret }))
    assert.equal(await tokens.authenticateLogin({ user: 'bob', password: token }), undefined)
    assert.equal(await tokens.authenticateLogin({ user: 'bob', password: secret }), undefined)
  })

  const wrong: [what: string, change: (token: string) => string][] = [
    ['with another user', (token) => reencode(token, (text) => text.replace('ann:', 'bob:'))],
    ['with a changed last character', (token) => reencode(token, (text) => `${text.slice(0, -1)}!`)],
    ['that is cut off', (token) => reencode(token, (text) => text.slice(0, -1))],
    ['with only its public part', (token) => reencode(token, (text) => text.slice(0, 'ann:'.length + 16))],
    ['with a second colon', (token) => reencode(token, (text) => `${text}:x`)],
    ['that is not base64', () => 'ann:secret'],
    ['that is empty', () => ''],
    ['that is too long', (token) => reencode(token, (text) => text + 'x'.repeat(1_000))],
  ]
  for (const [what, change] of wrong) {
    it(`${what} are nobody's`, async () => {
      const { token } = await createToken(database, { userUuid: ann.uuid })
      assert.equal(await createTokenAuthenticator(database).authenticate(change(token)), undefined)
    })
  }

  it('that are revoked are refused within a second, also where they were just used', async () => {
    let nowMs = Date.now()
    const tokens = createTokenAuthenticator(database, () => nowMs)
    const { uuid, token } = await createToken(database, { userUuid: ann.uuid })
    assert.ok(await tokens.authenticate(token))
    assert.equal(await revokeToken(database, uuid), true)
    nowMs += 999
    assert.equal(await tokens.authenticate(token), undefined)
    assert.equal(await revokeToken(database, '00000000-0000-4000-8000-000000000000'), false)
  })

  it('note their last use at most once a minute', async () => {
    const startMs = Date.now()
    let nowMs = startMs
    const tokens = createTokenAuthenticator(database, () => nowMs)
    const { uuid, token } = await createToken(database, { userUuid: ann.uuid })
    const lastUsedMs = async () =>
      (await listTokens(database, 'ann')).find((t) => t.uuid === uuid)?.lastUsedAt?.getTime()
    assert.equal(await lastUsedMs(), undefined)
    await tokens.authenticate(token)
    assert.equal(await lastUsedMs(), startMs)
    nowMs += 59_000
    await tokens.authenticate(token)
    assert.equal(await lastUsedMs(), startMs)
    nowMs += 2_000
    await tokens.authenticate(token)
    assert.equal(await lastUsedMs(), nowMs)
  })

  it('of other users are not in the list of one', async () => {
    const bob = await addUser(database, { name: 'bob' })
    const { uuid } = await createToken(database, { userUuid: bob.uuid, label: 'laptop' })
    const listed = await listTokens(database, 'bob')
    assert.deepEqual(
      listed.map((token) => [token.uuid, token.userName, token.label]),
      [[uuid, 'bob', 'laptop']],
    )
  })
})

function reencode(token: string, change: (text: string) => string): string {
  return Buffer.from(change(Buffer.from(token, 'base64').toString())).toString('base64')
}
