import { strict as assert } from 'node:assert'
import { createTextLookup } from '../../../src/acme/text-lookups.ts'
import { createDomainProofs } from '../../../src/api/service/domain-proofs.ts'
import { createProofTokens } from '../../../src/db/service/proof-token.ts'
import { proofText } from '../../../src/domain/service/domain-proof.ts'
import { startTestApi, testMetroDomain } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { makeTestCertificate } from '../../support/certificate-maker.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import type { DnsServer } from '../../support/dns-server.ts'
import { readRows } from '../../support/rows.ts'

const tokens = createProofTokens(new Uint8Array(32).fill(7))

describe('a change of the domains of a service', () => {
  let api: TestApi
  let dns: DnsServer
  let user: TestUser
  let names = 0
  /** A zone that the user has proved, and a label of its own below the metro domain. */
  let zone: string
  let label: string
  before(async () => {
    dns = await startDnsServer()
    const textsOf = createTextLookup(dns.resolver)
    api = await startTestApi({ domainProofs: createDomainProofs({ tokens, textsOf, nowMs: Date.now }) })
  })
  after(async () => {
    await api.close()
    await dns.close()
  })
  beforeEach(async () => {
    dns.answers.clear()
    zone = `zone-${++names}.test`
    label = `site-${names}`
    user = await api.addUser()
    prove(user)
    const domains = [{ name: label }, { name: `shop.${zone}.` }]
    await user.api.one('createServices', { body: { name: 'web', services: [{ port: 443 }], domains } })
  })

  function prove(owner: TestUser): void {
    const name = `_roost-proof.${zone}`
    dns.answers.set(`TXT ${name}`, [{ type: 'TXT', name, data: proofText(tokens(owner.uuid)) }])
  }
  const change = (body: unknown, of = user, object = 'web') => of.api.one('updateServices', { object, body })
  const failure = async (body: unknown, of = user, object = 'web') => {
    const [entry] = (await of.api.attempt('updateServices', { object, body })).entries
    assert.ok(entry !== undefined && 'error' in entry, JSON.stringify(entry))
    return [entry.error, entry.message] as const
  }
  const domains = async (of = user) => (await of.api.one('getServices', { object: 'web' })).domains ?? []
  const fqdns = async (of = user) => (await domains(of)).map(({ fqdn }) => fqdn)
  const certificateOf = async (fqdn: string) =>
    (await domains()).find((one) => one.fqdn === fqdn)?.certificate
  const upload = async (cn: string, name: string) => {
    const { pem: chain, pkey } = await makeTestCertificate({ subject: `CN=${cn}`, names: [cn] })
    return user.api.one('createCertificates', { body: { cn, name, chain, pkey } })
  }
  const metro = () => `${label}.${testMetroDomain}`

  it('adds them behind the others, with a new certificate whose workflow is started', async () => {
    const calls = api.certificateControl.calls.length
    const { changed, domains: shown } = await change({
      add: { domains: [{ name: `www.${zone}.` }, { name: `${label}-b` }] },
    })
    assert.deepEqual(changed, ['domains'])
    assert.deepEqual(shown, await domains())
    const expected = [metro(), `shop.${zone}`, `www.${zone}`, `${label}-b.${testMetroDomain}`]
    assert.deepEqual(await fqdns(), expected)
    assert.equal(shown[2]?.certificate?.state, 'pending')
    assert.equal(api.certificateControl.calls.length, calls + 1)
    const told = await readRows(api.database, {
      text: 'select workflow_started_at is not null as started from certificates where uuid = $1',
      values: [shown[2]?.certificate?.uuid],
    })
    assert.deepEqual(told, [{ started: true }])
  })

  it('takes them away, named as in a request or as in an answer, and leaves their certificates', async () => {
    const certificate = await certificateOf(`shop.${zone}`)
    await change({ del: { domains: [`shop.${zone}`, { name: label }] } })
    assert.deepEqual(await fqdns(), [])
    assert.equal((await user.api.one('getCertificates', { object: certificate!.uuid })).state, 'pending')
    await change({ add: { domains: [{ name: `shop.${zone}.` }] } })
    assert.deepEqual(await certificateOf(`shop.${zone}`), certificate)
    await change({ del: { domains: [`SHOP.${zone}.`] } })
    assert.deepEqual(await fqdns(), [])
  })

  it('replaces the certificate of one, and leaves the one that it had alone', async () => {
    const requested = await certificateOf(`shop.${zone}`)
    const calls = api.certificateControl.calls.length
    const given = await upload(`shop.${zone}`, 'bought')
    assert.equal((await certificateOf(`shop.${zone}`))?.uuid, requested!.uuid)
    const { changed } = await change({
      add: { domains: [{ name: `shop.${zone}.`, certificate: { name: 'bought' } }] },
    })
    assert.deepEqual(changed, ['domains'])
    assert.deepEqual((await certificateOf(`shop.${zone}`))?.uuid, given.uuid)
    assert.deepEqual(await fqdns(), [metro(), `shop.${zone}`])
    const left = await user.api.one('getCertificates', { object: requested!.uuid })
    assert.deepEqual([left.state, left.service_groups], ['pending', []])
    assert.equal(api.certificateControl.calls.length, calls)
    assert.deepEqual((await change({ add: { domains: [{ name: `shop.${zone}.` }] } })).changed, [])
  })

  it('keeps the certificate of one that is named without, unless that can not be used any more', async () => {
    const requested = await certificateOf(`shop.${zone}`)
    await upload(`shop.${zone}`, 'bought')
    const again = { domains: [{ name: label }, { name: `shop.${zone}.` }] }
    assert.deepEqual((await change(again)).changed, [])
    const failed = "update certificates set state = 'error' where uuid = $1"
    await readRows(api.database, { text: failed, values: [requested!.uuid] })
    assert.deepEqual((await change(again)).changed, ['domains'])
    assert.equal((await certificateOf(`shop.${zone}`))?.name, 'bought')
  })

  it('takes another order as a change', async () => {
    const { changed } = await change({ domains: [{ name: `shop.${zone}.` }, { name: label }] })
    assert.deepEqual(changed, ['domains'])
    assert.deepEqual(await fqdns(), [`shop.${zone}`, metro()])
  })

  it('is refused where a creation would be: certificates, reserved names, names in use', async () => {
    await upload(`other.${zone}`, 'other')
    const named = (name: string, certificate: string) => ({
      soft_limit: 5,
      add: { domains: [{ name, certificate: { name: certificate } }] },
    })
    assert.deepEqual(await failure(named(`shop.${zone}.`, 'none')), [8, "No certificate with name 'none'"])
    assert.equal((await failure(named(`shop.${zone}.`, 'other')))[0], 30)
    assert.deepEqual(await failure({ add: { domains: [{ name: 'api' }] } }), [
      24,
      `Domain 'api.${testMetroDomain}' is reserved and cannot be used`,
    ])
    const other = await api.addUser()
    await other.api.one('createServices', { body: { name: 'web', domains: [{ name: `${label}-theirs` }] } })
    assert.deepEqual(await failure({ soft_limit: 5, add: { domains: [{ name: `${label}-theirs` }] } }), [
      23,
      `Domain '${label}-theirs.${testMetroDomain}' is already in use`,
    ])
    const seen = await user.api.one('getServices', { object: 'web' })
    assert.deepEqual([seen.soft_limit, await fqdns()], [1, [metro(), `shop.${zone}`]])
    const many = Array.from({ length: 15 }, (_, index) => ({ name: `${label}-${index}` }))
    const tooMany = "Value of 'domains' has too many elements: 17, but at most 16"
    assert.deepEqual(await failure({ add: { domains: many } }), [5, tooMany])
  })

  it('asks for the proof of a new domain alone: one that the service has stays without', async () => {
    const stranger = await api.addUser()
    await stranger.api.one('createServices', { body: { name: 'web' } })
    const [code, message] = await failure({ add: { domains: [{ name: `www.${zone}.` }] } }, stranger)
    assert.equal(code, 24)
    assert.match(message, new RegExp(`^Domain 'www\\.${zone}' is not proved to be yours`))
    assert.deepEqual(await fqdns(stranger), [])
    dns.answers.clear()
    dns.asked.length = 0
    await change({ domains: [{ name: `shop.${zone}.` }] })
    assert.deepEqual(dns.asked, [])
    assert.deepEqual(await fqdns(), [`shop.${zone}`])
  })

  it('can hand a domain from one service to another in one request', async () => {
    await user.api.one('createServices', { body: { name: 'next' } })
    const answer = await user.api.call('updateServices', {
      body: [
        { name: 'web', del: { domains: [label] } },
        { name: 'next', add: { domains: [{ name: label }] } },
      ],
    })
    assert.deepEqual(
      answer.map((entry) => entry.domains.map(({ fqdn }) => fqdn)),
      [[`shop.${zone}`], [metro()]],
    )
  })

  it('of two users who swap names at once is answered for both, however their steps lie', async () => {
    const other = await api.addUser()
    const [a, z] = [`${label}-a`, `${label}-z`]
    await change({ domains: [{ name: z }] })
    await other.api.one('createServices', { body: { name: 'web', domains: [{ name: a }] } })
    const swap = (of: TestUser, gives: string, takes: string) =>
      failure({ del: { domains: [gives] }, add: { domains: [{ name: takes }] } }, of)
    for (let round = 0; round < 30; round++) {
      const refused = await Promise.all([swap(user, z, a), swap(other, a, z)])
      assert.deepEqual(
        refused.map(([code]) => code),
        [23, 23],
      )
    }
    assert.deepEqual(
      [await fqdns(), await fqdns(other)],
      [[z], [a]].map(([name]) => [`${name}.${testMetroDomain}`]),
    )
  })
})
