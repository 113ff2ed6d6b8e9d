import { strict as assert } from 'node:assert'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { createTokenAuthenticator } from '../../../src/db/account/authenticator.ts'
import {
  createToken,
  expiredTokenShownMs,
  issueToken,
  listOwnTokens,
  listTokens,
  maxEndedTokens,
  revokeToken,
} from '../../../src/db/account/tokens.ts'
import type { NewToken } from '../../../src/db/account/tokens.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { TokenScope } from '../../../src/domain/account/token-scope.ts'
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
      kind: 'valid',
      identity: {
        userUuid: ann.uuid,
        userName: 'ann',
        tokenUuid: uuid,
        tokenName: uuid,
        developer: true,
        admin: false,
        scopes: null,
        services: null,
        expiresAt: null,
      },
    })
  })

  it('are good under the user name that older clients write', async () => {
    const { token } = await createToken(database, { userUuid: ann.uuid })
    const secret = Buffer.from(token, 'base64').toString().slice('ann:'.length)
    const robot = Buffer.from(`robot$ann.users.kraftcloud:${secret}`).toString('base64')
    assert.equal((await createTokenAuthenticator(database).authenticate(robot)).kind, 'valid')
  })

  it('are good at a registry login, whole or as the secret alone', async () => {
    const { token } = await createToken(database, { userUuid: ann.uuid })
    const secret = Buffer.from(token, 'base64').toString().slice('ann:'.length)
    const tokens = createTokenAuthenticator(database)
    const kindFor = async (user: string, password: string) =>
      (await tokens.authenticateLogin({ user, password })).kind
    assert.equal(await kindFor('ann', token), 'valid')
    assert.equal(await kindFor('ann', secret), 'valid')
    assert.equal(await kindFor('bob', token), 'unknown')
    assert.equal(await kindFor('bob', secret), 'unknown')
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
      const found = await createTokenAuthenticator(database).authenticate(change(token))
      assert.deepEqual(found, { kind: 'unknown' })
    })
  }

  it('that are revoked are refused within a second, also where they were just used', async () => {
    let nowMs = Date.now()
    const tokens = createTokenAuthenticator(database, () => nowMs)
    const { uuid, token } = await createToken(database, { userUuid: ann.uuid })
    assert.equal((await tokens.authenticate(token)).kind, 'valid')
    assert.equal(await revokeToken(database, uuid), true)
    nowMs += 999
    assert.deepEqual(await tokens.authenticate(token), { kind: 'unknown' })
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

  it('tell what they permit, and until when', async () => {
    const expiresAt = new Date(Date.now() + 60_000)
    const rights = { scopes: [TokenScope.Read, TokenScope.Metrics], services: ['shop', 'blog'] }
    const { token } = await createToken(database, { userUuid: ann.uuid, rights, expiresAt })
    const found = await createTokenAuthenticator(database).authenticate(token)
    assert.partialDeepStrictEqual(found, { kind: 'valid', identity: { ...rights, expiresAt } })
  })

  it('that have expired say when, also where they were used a moment before', async () => {
    const startMs = Date.now()
    let nowMs = startMs
    const tokens = createTokenAuthenticator(database, () => nowMs)
    const expiresAt = new Date(startMs + 100)
    const { uuid, token } = await createToken(database, { userUuid: ann.uuid, expiresAt })
    nowMs = startMs + 99
    assert.equal((await tokens.authenticate(token)).kind, 'valid')
    nowMs = startMs + 100
    assert.deepEqual(await tokens.authenticate(token), { kind: 'expired', at: expiresAt })
    const secret = Buffer.from(token, 'base64').toString().slice('ann:'.length)
    const login = await tokens.authenticateLogin({ user: 'ann', password: secret })
    assert.deepEqual(login, { kind: 'expired', at: expiresAt })
    nowMs = startMs + 120_000
    await tokens.authenticate(token)
    const listed = (await listTokens(database, 'ann')).find((one) => one.uuid === uuid)
    assert.equal(listed?.lastUsedAt?.getTime(), startMs + 99)
  })

  it('that have expired say nothing to who does not have the whole token', async () => {
    const tokens = createTokenAuthenticator(database)
    const { token } = await createToken(database, { userUuid: ann.uuid, expiresAt: new Date(1) })
    const guess = reencode(token, (text) => `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`)
    assert.deepEqual(await tokens.authenticate(guess), { kind: 'unknown' })
  })

  it('that are revoked say nothing, even if they have expired', async () => {
    const { uuid, token } = await createToken(database, { userUuid: ann.uuid, expiresAt: new Date(1) })
    await revokeToken(database, uuid)
    assert.deepEqual(await createTokenAuthenticator(database).authenticate(token), { kind: 'unknown' })
  })

  describe('of an account that makes them itself', () => {
    let users = 0
    let user: UserRecord
    beforeEach(async () => {
      user = await addUser(database, { name: `maker-${users++}` })
    })
    const issue = (wanted: Partial<NewToken> & { readonly most?: number } = {}) =>
      issueToken(database, { userUuid: user.uuid, ...wanted })
    const issued = async (wanted: Parameters<typeof issue>[0] = {}) => {
      const outcome = await issue(wanted)
      assert.ok(outcome.ok)
      return outcome.record.uuid
    }
    const shown = async () => (await listOwnTokens(database, user.uuid)).map(({ uuid }) => uuid)
    const past = (ms: number) => new Date(Date.now() - ms)

    it('are no more than the limit, also if many are made at once', async () => {
      const outcomes = await Promise.all(Array.from({ length: 6 }, () => issue({ most: 3 })))
      assert.equal(outcomes.filter(({ ok }) => ok).length, 3)
      const [refused] = outcomes.flatMap((one) => (one.ok ? [] : one.refusal))
      assert.deepEqual(refused, { kind: 'too-many-tokens', limit: 3 })
    })

    it('do not count once they are revoked or have expired', async () => {
      await revokeToken(database, await issued())
      await issued({ expiresAt: past(1) })
      await issued({ most: 1, expiresAt: new Date(Date.now() + 60_000) })
      assert.equal((await issue({ most: 1 })).ok, false)
    })

    it('are limited to services that the user has', async () => {
      const rights = { scopes: [TokenScope.Read], services: ['nowhere'] }
      const outcome = await issue({ rights })
      const refusal = { kind: 'service-not-found', by: 'name', value: 'nowhere' }
      assert.deepEqual(outcome, { ok: false, refusal })
      assert.deepEqual(await shown(), [])
    })

    it('are shown until they are revoked, or for some time after they have expired', async () => {
      const living = await issued()
      const expired = await issued({ expiresAt: past(expiredTokenShownMs - 60_000) })
      await issued({ expiresAt: past(expiredTokenShownMs + 60_000) })
      await revokeToken(database, await issued())
      assert.deepEqual(await shown(), [living, expired])
      assert.deepEqual(
        (await listOwnTokens(database, user.uuid, [expired])).map(({ uuid }) => uuid),
        [expired],
      )
      const another = await addUser(database, { name: `maker-${users++}` })
      assert.deepEqual(await listOwnTokens(database, another.uuid, [living]), [])
    })

    it('are revoked only by their own account', async () => {
      const uuid = await issued()
      assert.equal(await revokeToken(database, uuid, { userUuid: ann.uuid }), false)
      assert.deepEqual(await shown(), [uuid])
      assert.equal(await revokeToken(database, uuid, { userUuid: user.uuid }), true)
      assert.deepEqual(await shown(), [])
    })

    it('keep their rows after their end, the newest of them', async () => {
      const living = await issued()
      const dayMs = 86_400_000
      const ended: string[] = []
      for (let days = maxEndedTokens + 2; days > 0; days--) {
        const expiresAt = past(days * dayMs)
        ended.push((await createToken(database, { userUuid: user.uuid, expiresAt })).uuid)
      }
      const last = await issued()
      const kept = (await listTokens(database, user.name)).map(({ uuid }) => uuid)
      assert.deepEqual(new Set(kept), new Set([living, ...ended.slice(2), last]))
    })
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
