import { strict as assert } from 'node:assert'
import { createPrivateKey } from 'node:crypto'
import { certificateKeyContext } from '../../../src/db/service/feed-routes.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { makeTestCertificate, makeTestChain } from '../../support/certificate-maker.ts'
import { readRows } from '../../support/rows.ts'

const name = 'www.example.com'

describe('certificates', () => {
  let api: TestApi
  let user: TestUser
  let made: Awaited<ReturnType<typeof makeTestChain>>
  let wildcard: Awaited<ReturnType<typeof makeTestCertificate>>
  before(async () => {
    api = await startTestApi()
    made = await makeTestChain([name])
    wildcard = await makeTestCertificate({ subject: 'CN=*.example.com', names: ['*.example.com'] })
  })
  after(() => api.close())
  beforeEach(async () => {
    api.certificateControl.calls.length = 0
    delete api.certificateControl.faults.isAway
    user = await api.addUser()
    // A domain can have only one service among all users. So the services of the last test are deleted.
    await api.database.orm.em.getConnection().execute('delete from services')
  })

  const good = (more: object = {}) => ({
    cn: name,
    chain: made.leaf.pem + made.between.pem,
    pkey: made.leaf.pkey,
    ...more,
  })
  const upload = (more: object = {}, owner = user) =>
    owner.api.one('createCertificates', { body: good(more) })
  const attempt = (body: object | readonly object[], owner = user) =>
    owner.api.attempt('createCertificates', { body })
  const view = (object: string, owner = user) => owner.api.one('getCertificates', { object })
  const serve = (domains: readonly object[], owner = user) =>
    owner.api.attempt('createServices', { body: { services: [{ port: 443 }], domains } })
  const stored = async (uuid: string) => {
    const [row] = await readRows<Record<string, string | null>>(api.database, {
      text: `select chain, key_sealed as "keySealed", origin, state, workflow_started_at::text as started
             from certificates where uuid = $1`,
      values: [uuid],
    })
    return row!
  }
  const record = async (uuid: string, columns: string) => {
    await api.database.orm.em
      .getConnection()
      .execute(`update certificates set ${columns} where uuid = '${uuid}'`)
  }

  it('are valid as soon as they are uploaded, and show what they hold', async () => {
    const { status, uuid, name: given, ...more } = await upload({ name: 'Mine' })
    assert.deepEqual([status, given, more], ['success', 'mine', {}])
    const { created_at, not_before, not_after, serial_number, ...seen } = await view('mine')
    assert.deepEqual(seen, {
      status: 'success',
      uuid,
      name: 'mine',
      common_name: name,
      state: 'valid',
      subject: `CN=${name}`,
      issuer: 'CN=Test Authority,O=Tests',
      service_groups: [],
    })
    assert.match(serial_number ?? '', /^0ABC[0-9A-F]{16}$/)
    for (const moment of [created_at, not_before, not_after]) {
      assert.match(moment ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    }
    assert.ok(not_before! < created_at! && created_at! < not_after!)
    assert.deepEqual(api.certificateControl.calls, [])
  })

  it('take a name with a final dot and in any case, and show it without and in lower case', async () => {
    const { uuid } = await upload({ cn: 'WWW.Example.com.' })
    assert.equal((await view(uuid)).common_name, name)
  })

  it('without a name are named after their common name, without its wildcard', async () => {
    assert.match((await upload()).name, /^www\.example\.com-[a-z0-9]{5}$/)
    const { pem: chain, pkey } = wildcard
    const { name: generated } = await upload({ cn: '*.example.com.', chain, pkey, name: '' })
    assert.match(generated, /^example\.com-[a-z0-9]{5}$/)
  })

  it('are kept in order, without the root, with the key sealed for this certificate alone', async () => {
    const { leaf, between, root } = made
    const { uuid } = await upload({ chain: root.pem + between.pem + leaf.pem })
    const row = await stored(uuid)
    assert.equal(row['chain'], leaf.pem + between.pem)
    assert.ok(!row['keySealed']!.includes('PRIVATE'))
    const pem = testSecretBox.open(row['keySealed']!, certificateKeyContext(uuid))
    assert.ok(createPrivateKey(pem).equals(leaf.key))
    assert.throws(() => testSecretBox.open(row['keySealed']!, certificateKeyContext('other')))
    assert.equal(row['origin'], 'uploaded')
  })

  it('get missing issuers from the chains of other certificates of the same account', async () => {
    const leaf = await makeTestCertificate({
      subject: `CN=${name}`,
      names: [name],
      issuer: made.between,
      issuerUrl: 'http://authority.example/r.der',
    })
    const { root, between } = made
    const bare = { chain: leaf.pem, pkey: leaf.pkey }
    const refused = await attempt(good(bare))
    assert.equal(refused.httpStatus, 400)
    // The chain is stored without its root, and later uploads know only what is stored. It must be enough.
    const known = await upload({ chain: made.leaf.pem + between.pem + root.pem })
    assert.equal((await stored(known.uuid))['chain'], made.leaf.pem + between.pem)
    const other = await api.addUser()
    assert.equal((await attempt(good(bare), other)).httpStatus, 400)
    const completed = await upload(bare)
    assert.equal((await stored(completed.uuid))['chain'], leaf.pem + between.pem)
  })

  it('are uploaded by array, each by itself, and a name that is taken is a failed entry', async () => {
    const answer = await attempt([good({ name: 'one' }), good({ name: 'ONE' }), good({ name: 'two' })])
    assert.deepEqual([answer.httpStatus, answer.status], [200, 'partial_success'])
    assert.deepEqual(answer.entries[1], {
      status: 'error',
      name: 'one',
      message: "Certificate with name 'one' already exists",
      error: 23,
    })
    assert.deepEqual(
      (await user.api.call('listCertificates')).map((one) => one.name),
      ['one', 'two'],
    )
  })

  it('are listed by common name, in any case and with or without a final dot', async () => {
    await upload({ name: 'a' })
    await upload({ name: 'b', cn: '*.example.com', chain: wildcard.pem, pkey: wildcard.pkey })
    const list = async (body: object) =>
      (await user.api.call('listCertificates', { body })).map((one) => one.name)
    assert.deepEqual(await list({}), ['a', 'b'])
    assert.deepEqual(await list({ common_name: 'WWW.example.com.' }), ['a'])
    assert.deepEqual(await list({ common_name: '*.example.com' }), ['b'])
    assert.deepEqual(await list({ common_name: 'example.com' }), [])
    assert.deepEqual(await list([{ common_name: name }, { common_name: '*.example.com' }]), ['a', 'b'])
    const query = { common_name: name }
    assert.deepEqual(
      (await user.api.call('listCertificates', { query })).map((one) => Object.keys(one)),
      [['uuid', 'name']],
    )
  })

  it('are shown with or without details, all or by identifiers', async () => {
    await upload({ name: 'a' })
    await upload({ name: 'b' })
    const all = await user.api.call('getCertificates')
    assert.deepEqual(
      all.map((one) => [one.name, 'status' in one, one.state]),
      [
        ['a', false, 'valid'],
        ['b', false, 'valid'],
      ],
    )
    const [short] = await user.api.call('getCertificates', { query: { details: 'false', name: 'b' } })
    assert.deepEqual(Object.keys(short!), ['status', 'uuid', 'name'])
    assert.equal((await view('B')).name, 'b')
  })

  it('are taken by a domain of the same name, or below a wildcard, that is created afterwards', async () => {
    const { uuid } = await upload({ name: 'exact' })
    await upload({ name: 'wild', cn: '*.example.com', chain: wildcard.pem, pkey: wildcard.pkey })
    const [service] = (
      await serve([{ name: `${name}.` }, { name: 'a.example.com.' }, { name: '*.example.com.' }])
    ).entries
    const certificates = (
      service as { domains: { certificate: { name: string; state: string } }[] }
    ).domains.map(({ certificate }) => [certificate.name, certificate.state])
    assert.deepEqual(certificates, [
      ['exact', 'valid'],
      ['wild', 'valid'],
      ['wild', 'valid'],
    ])
    const { name: called, uuid: serviceUuid } = service as { name: string; uuid: string }
    const [exact, wild] = [await view(uuid), await view('wild')]
    for (const shown of [exact, wild]) {
      assert.deepEqual(shown.service_groups, [{ uuid: serviceUuid, name: called }])
    }
    assert.deepEqual(api.certificateControl.calls, [])
  })

  it('do not replace the one that a domain has already', async () => {
    const { entries } = await serve([{ name: `${name}.` }])
    const { certificate } = (entries[0] as { domains: { certificate: { uuid: string } }[] }).domains[0]!
    await upload({ name: 'later' })
    const [service] = await user.api.call('getServices')
    assert.deepEqual(service!.domains![0]!.certificate!.uuid, certificate.uuid)
    assert.deepEqual((await view('later')).service_groups, [])
  })

  it('that were requested with a service are ordered at once, and show how far that is', async () => {
    const { entries } = await serve([{ name: 'new.example.com.' }, { name: 'web' }])
    const { domains } = entries[0] as { domains: { certificate?: { uuid: string } }[] }
    const { uuid } = domains[0]!.certificate!
    assert.deepEqual(api.certificateControl.calls, [`ensureStarted ${uuid}`])
    assert.ok((await stored(uuid))['started'])
    const { created_at: _, ...seen } = await view(uuid)
    assert.partialDeepStrictEqual(seen, {
      common_name: 'new.example.com',
      state: 'pending',
      validation: { attempt: 0 },
    })
    for (const field of ['subject', 'issuer', 'serial_number', 'not_before', 'not_after', 'reason']) {
      assert.ok(!(field in seen), field)
    }
    await record(uuid, `attempt = 2, next_at = '2026-05-28T13:53:40.700Z', failure = 'no such name'`)
    assert.partialDeepStrictEqual(await view(uuid), {
      state: 'pending',
      reason: 'no such name',
      validation: { attempt: 2, next: '2026-05-28T13:53:40Z' },
    })
    await record(uuid, `state = 'error', next_at = null`)
    const failed = await view(uuid)
    assert.deepEqual([failed.state, failed.reason, 'validation' in failed], ['error', 'no such name', false])
  })

  it('that were requested with an instance are ordered at once, and only once for all its replicas', async () => {
    const domains = [{ name: 'app.example.com.' }]
    const service_group = { services: [{ port: 443, destination_port: 8080 }], domains }
    const body = { image: 'hello', replicas: 1, service_group }
    const [instance] = await user.api.call('createInstances', { body })
    const { uuid } = instance!.service_group!.domains[0]!.certificate!
    assert.deepEqual(api.certificateControl.calls, [`ensureStarted ${uuid}`])
    await serve([{ name: 'b.app.example.com.' }])
    assert.equal(api.certificateControl.calls.length, 2)
  })

  it('that could not be ordered yet are left to the sweep', async () => {
    api.certificateControl.faults.isAway = true
    const { entries } = await serve([{ name: 'new.example.com.' }])
    const { domains } = entries[0] as { domains: { certificate: { uuid: string } }[] }
    assert.equal((await stored(domains[0]!.certificate.uuid))['started'], null)
  })

  it('are deleted only if no service uses them; the refusal names the service', async () => {
    const { uuid } = await upload({ name: 'used' })
    const { entries } = await serve([{ name: `${name}.` }])
    const { name: service } = entries[0] as { name: string }
    const refused = await user.api.attempt('deleteCertificates', { body: [{ name: 'used' }] })
    assert.deepEqual(refused.entries, [
      {
        status: 'error',
        uuid,
        name: 'used',
        message: `Certificate 'used' is used by domain '${name}' of service group '${service}': give the domain another one, or take it away, first`,
        error: 15,
      },
    ])
    await user.api.call('deleteServices', { body: { name: service } })
    const deleted = await user.api.one('deleteCertificates', { object: 'used' })
    assert.deepEqual(deleted, { status: 'success', uuid, name: 'used' })
    assert.deepEqual(await user.api.call('getCertificates'), [])
    assert.deepEqual(api.certificateControl.calls, [])
  })

  it('that were requested tell their workflow when they are deleted, and go without it', async () => {
    const { entries } = await serve([{ name: 'new.example.com.' }])
    const { uuid, domains } = entries[0] as { uuid: string; domains: { certificate: { uuid: string } }[] }
    const certificate = domains[0]!.certificate.uuid
    await user.api.call('deleteServices', { body: { uuid } })
    api.certificateControl.faults.isAway = true
    await user.api.one('deleteCertificates', { object: certificate })
    assert.deepEqual(api.certificateControl.calls.slice(1), [`delete ${certificate}`])
    assert.deepEqual(await user.api.call('getCertificates'), [])
  })

  it('that have expired stay valid with their dates, and serve no new domain', async () => {
    const { uuid } = await upload({ name: 'old' })
    await record(uuid, `not_after = now() - interval '1 second'`)
    assert.equal((await view('old')).state, 'valid')
    const { entries } = await serve([{ name: `${name}.`, certificate: { name: 'old' } }])
    assert.match(
      (entries[0] as { message: string }).message,
      /^Certificate 'old' expired at \d{4}-.*Z: upload a renewed one/,
    )
    assert.equal((entries[0] as { error: number }).error, 24)
    const { entries: made } = await serve([{ name: `${name}.` }])
    const [domain] = (made[0] as { domains: { certificate: { name: string; state: string } }[] }).domains
    assert.equal(domain!.certificate.state, 'pending')
  })

  it("are nobody's but their owner's", async () => {
    const { uuid } = await upload({ name: 'mine' })
    const other = await api.addUser()
    for (const body of [{ uuid }, { name: 'mine' }]) {
      for (const operation of ['getCertificates', 'deleteCertificates'] as const) {
        const { entries } = await other.api.attempt(operation, { body })
        assert.equal((entries[0] as { error: number }).error, 8)
      }
      const { entries } = await serve([{ name: `${name}.`, certificate: body }], other)
      assert.equal((entries[0] as { error: number }).error, 8)
    }
    assert.deepEqual(await other.api.call('getCertificates'), [])
    assert.deepEqual(await other.api.call('listCertificates', { body: { common_name: name } }), [])
    // The other user gets another certificate for this domain, although this user has one already.
    const { entries } = await serve([{ name: `${name}.` }], other)
    const [domain] = (entries[0] as { domains: { certificate: { uuid: string; state: string } }[] }).domains
    assert.equal(domain!.certificate.state, 'pending')
    assert.notEqual(domain!.certificate.uuid, uuid)
    assert.equal((await upload({ name: 'mine' }, other)).name, 'mine')
    assert.deepEqual((await view('mine')).uuid, uuid)
  })
})
