import { strict as assert } from 'node:assert'
import { readFeed } from '../../../src/db/service/feed-read.ts'
import { certificateKeyContext } from '../../../src/db/service/feed-routes.ts'
import { routesQuery } from '../../../src/db/sql/feed.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { makeTestCertificate, makeTestChain } from '../../support/certificate-maker.ts'
import { readRows } from '../../support/rows.ts'
import { settledFeed } from '../../support/settled-feed.ts'

const cn = 'www.example.com'

describe('the contents of an uploaded certificate', () => {
  let api: TestApi
  let user: TestUser
  let first: Contents
  let second: Contents
  before(async () => {
    api = await startTestApi()
    first = await contents()
    second = await contents()
  })
  after(() => api.close())
  beforeEach(async () => {
    user = await api.addUser()
  })

  interface Contents {
    readonly chain: string
    readonly pkey: string
  }
  const contents = async (): Promise<Contents> => {
    const { leaf, between } = await makeTestChain([cn])
    return { chain: leaf.pem + between.pem, pkey: leaf.pkey }
  }
  const upload = (owner = user) =>
    owner.api.one('createCertificates', { body: { name: 'shop', cn, ...first } })
  const replace = (body: object, owner = user) => owner.api.attempt('updateCertificates', { body })
  const view = () => user.api.one('getCertificates', { object: 'shop' })
  const stored = async (uuid: string) => {
    const [row] = await readRows<Record<'chain' | 'keySealed', string>>(api.database, {
      text: `select chain, key_sealed as "keySealed" from certificates where uuid = $1`,
      values: [uuid],
    })
    return row!
  }

  it('are replaced together with its key, and gateways hear of it', async () => {
    const { uuid } = await upload()
    const before = await view()
    const feed = async (revision?: string) =>
      await settledFeed(api.database, () => readFeed(api.database, routesQuery, revision))
    const { revision } = await feed()
    const { entries } = await replace({ name: 'shop', ...second })
    assert.partialDeepStrictEqual(entries[0], { status: 'success', uuid, name: 'shop', state: 'valid' })
    const { chain, keySealed } = await stored(uuid)
    assert.equal(chain, second.chain)
    const key = testSecretBox.open(keySealed, certificateKeyContext(uuid))
    assert.equal(key.replaceAll(/\s/g, ''), second.pkey.replaceAll(/\s/g, ''))
    const after = await view()
    assert.notEqual(after.serial_number, before.serial_number)
    assert.equal(after.created_at, before.created_at)
    assert.ok(JSON.stringify(await feed(revision)).includes(uuid))
  })

  it('may be given with the certificate in the path, and again, which changes nothing', async () => {
    await upload()
    const given = { object: 'shop', body: first }
    assert.equal((await user.api.one('updateCertificates', given)).status, 'success')
    const events = await user.api.call('listEvents', { query: { kind: 'certificate.installed' } })
    assert.deepEqual(events, [])
  })

  it('have to be for the same domain, and to fit each other; else nothing of the request is done', async () => {
    const { uuid } = await upload()
    const other = await makeTestCertificate({ subject: 'CN=b.example.org', names: ['b.example.org'] })
    const wrong = [
      [{ chain: other.pem, pkey: other.pkey }, /is not for 'www\.example\.com', but for 'b\.example\.org'/],
      [
        { chain: first.chain, pkey: second.pkey },
        /'pkey' in certificate replacement arguments .*not the key/,
      ],
      [{ chain: first.chain }, /Missing '\[1\].pkey'/],
    ] as const
    for (const [body, message] of wrong) {
      const { httpStatus, errors } = await replace([
        { uuid, ...second },
        { uuid, ...body },
      ])
      assert.equal(httpStatus, 400)
      assert.match(errors[0]!.message, message)
    }
    assert.equal((await stored(uuid)).chain, first.chain)
  })

  it('can be replaced by its owner alone', async () => {
    const { uuid } = await upload()
    const { entries } = await replace({ uuid, ...second }, await api.addUser())
    assert.partialDeepStrictEqual(entries[0], { status: 'error', error: 8 })
    assert.equal((await stored(uuid)).chain, first.chain)
  })

  it('are refused for a certificate that was requested, which is renewed by itself', async () => {
    const service = { services: [{ port: 443 }], domains: [{ name: `${cn}.` }] }
    const made = await user.api.one('createServices', { body: service })
    const { name } = made.domains[0]!.certificate!
    const { entries } = await replace({ name, ...second })
    assert.partialDeepStrictEqual(entries[0], { status: 'error', error: 24 })
  })
})
