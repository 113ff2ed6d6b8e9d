import { strict as assert } from 'node:assert'
import { readFeed } from '../../../src/db/service/feed-read.ts'
import { routeLine } from '../../../src/db/service/feed-routes.ts'
import { routesQuery } from '../../../src/db/sql/feed.ts'
import type { RouteMetro } from '../../../src/domain/service/route-feed.ts'
import { issueWildcard, makeAuthority } from '../../../src/launch/services/local-authority.ts'
import type { KeyPairPem } from '../../../src/x509/key-pair.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { startTestApi, testGatewayToken } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { readRows } from '../../support/rows.ts'
import { settledFeed } from '../../support/settled-feed.ts'

const domain = 'metro.example'

describe('the certificate of the metro domain', () => {
  let api: TestApi
  let admin: TestUser
  let authority: KeyPairPem
  before(async () => {
    api = await startTestApi()
    admin = await api.addUser({ admin: true })
    authority = await makeAuthority(domain, Date.now())
  })
  after(() => api.close())

  const tell = async (body: object, token = testGatewayToken) =>
    await api.send({ method: 'PUT', path: '/internal/metro-certificate', token, body })

  const read = async (since?: string) =>
    await settledFeed(api.database, () => readFeed(api.database, routesQuery, since))

  /** The certificates that gateways are told, from this revision on. */
  const told = async (since?: string): Promise<readonly RouteMetro[]> =>
    (await read(since)).rows.flatMap((row) => {
      const line = routeLine(testSecretBox, row)
      return line.kind === 'metro' ? [line.metro] : []
    })

  it('is told to gateways as the gateway beside the API has it', async () => {
    const pair = await issueWildcard(authority, domain, Date.now())
    assert.equal((await tell({ domain, ...pair })).status, 204)
    assert.deepEqual(await told(), [{ domain, ...pair }])
    const { revision } = await read()
    assert.equal((await tell({ domain, ...pair })).status, 204)
    assert.deepEqual(await told(revision), [], 'the same certificate is no news')
    const next = await issueWildcard(authority, domain, Date.now())
    await tell({ domain, ...next })
    assert.deepEqual(await told(revision), [{ domain, ...next }])
  })

  it('takes the place of that of another metro domain', async () => {
    const pair = await issueWildcard(authority, domain, Date.now())
    await tell({ domain: 'before.example', ...pair })
    const { revision } = await read()
    await tell({ domain, ...pair })
    assert.deepEqual(await told(), [{ domain, ...pair }])
    const { rows } = await read(revision)
    assert.ok(rows.some(({ kind, id, body }) => kind === 'metro' && id === 'before.example' && body === null))
  })

  it('is kept sealed, and its key is in no log and no answer', async () => {
    const pair = await issueWildcard(authority, domain, Date.now())
    const answers = [await tell({ domain, ...pair }), await tell({ domain, ...pair, chain: pair.key })]
    const secret = pair.key.split('\n')[1]!
    const stored = JSON.stringify(await readRows(api.database, { text: 'select * from metro_certificates' }))
    for (const place of [stored, ...answers.map(({ text }) => text), ...api.logLines])
      assert.ok(!place.includes(secret), place)
    const other = await issueWildcard(authority, domain, Date.now())
    for (const wrong of [{ ...pair, key: other.key }, { ...pair, chain: 'none' }, { chain: pair.chain }]) {
      const { status, text } = await tell({ domain, ...wrong })
      assert.equal(status, 400, text)
      assert.ok(!text.includes(secret), text)
    }
    assert.deepEqual(await told(), [{ domain, ...pair }], 'what was refused changes nothing')
  })

  it('is taken from nobody without the token of gateways', async () => {
    const pair = await issueWildcard(authority, 'stranger.example', Date.now())
    for (const token of [admin.token, 'another', ''])
      assert.equal((await tell({ domain: 'stranger.example', ...pair }, token)).status, 401)
    assert.ok((await told()).every((metro) => metro.domain === domain))
  })
})
