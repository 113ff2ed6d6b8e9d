import { strict as assert } from 'node:assert'
import { createTextLookup } from '../../../src/acme/text-lookups.ts'
import { createDomainProofs } from '../../../src/api/service/domain-proofs.ts'
import { createProofTokens } from '../../../src/db/service/proof-token.ts'
import { proofText } from '../../../src/domain/service/domain-proof.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { makeTestCertificate } from '../../support/certificate-maker.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import type { DnsServer } from '../../support/dns-server.ts'

const tokens = createProofTokens(new Uint8Array(32).fill(7))
const rememberedMs = 600_000
const serverFailed = 2

describe('custom domains, if a proof is asked for', () => {
  let api: TestApi
  let dns: DnsServer
  let owner: TestUser
  let stranger: TestUser
  let clockMs = Date.now()
  let names = 0
  let zone: string

  before(async () => {
    dns = await startDnsServer()
    const domainProofs = createDomainProofs({
      tokens,
      textsOf: createTextLookup(dns.resolver),
      nowMs: () => clockMs,
    })
    api = await startTestApi({ domainProofs })
  })
  after(async () => {
    await api.close()
    await dns.close()
  })
  beforeEach(async () => {
    dns.answers.clear()
    dns.asked.length = 0
    zone = `zone-${++names}.test`
    owner = await api.addUser()
    stranger = await api.addUser()
  })

  const textOf = (user: TestUser) => proofText(tokens(user.uuid))
  const put = (at: string, ...texts: readonly string[]) => {
    const name = `_roost-proof.${at}`
    dns.answers.set(
      `TXT ${name}`,
      texts.map((data) => ({ type: 'TXT', name, data })),
    )
  }
  const body = (...fqdns: readonly string[]) => ({
    services: [{ port: 443 }],
    domains: fqdns.map((fqdn) => ({ name: `${fqdn}.` })),
  })
  const serve = async (user: TestUser, ...fqdns: readonly string[]) =>
    (await user.api.attempt('createServices', { body: body(...fqdns) })).entries[0]!
  const servedBy = async (user: TestUser) =>
    (await user.api.call('getServices')).flatMap(({ domains = [] }) => domains.map(({ fqdn }) => fqdn))

  it('are refused to a stranger with the record that would prove them, and taken by their owner', async () => {
    put(zone, 'v=spf1 -all', textOf(owner))
    const refused = await serve(stranger, `shop.${zone}`)
    assert.deepEqual(refused, {
      status: 'error',
      error: 24,
      message:
        `Domain 'shop.${zone}' is not proved to be yours: add a TXT record '_roost-proof.shop.${zone}' with the value ` +
        `'${textOf(stranger)}' to DNS, then try again. The same value in '_roost-proof.<domain>' proves all names below that domain`,
    })
    assert.deepEqual(await servedBy(stranger), [])
    assert.equal((await serve(owner, `shop.${zone}`)).status, 'success')
    assert.deepEqual(await servedBy(owner), [`shop.${zone}`])
  })

  it('are taken when the record that the refusal names is there', async () => {
    const { message = '' } = (await serve(owner, `shop.${zone}`)) as { message?: string }
    const [, record = '', value = ''] = /TXT record '(\S+)' with the value '(\S+)'/.exec(message) ?? []
    put(record.replace('_roost-proof.', ''), value)
    assert.equal((await serve(owner, `shop.${zone}`)).status, 'success')
  })

  it('are refused with an instance as well, and nothing is made', async () => {
    const create = (user: TestUser) =>
      user.api.attempt('createInstances', {
        body: { name: 'shop', image: 'hello', service_group: body(`shop.${zone}`) },
      })
    put(zone, textOf(owner))
    const { entries } = await create(stranger)
    assert.partialDeepStrictEqual(entries, [{ status: 'error', name: 'shop', error: 24 }])
    assert.deepEqual(await stranger.api.call('listInstances'), [])
    assert.deepEqual(await stranger.api.call('getServices'), [])
    assert.partialDeepStrictEqual((await create(owner)).entries, [{ status: 'success', name: 'shop' }])
  })

  it('are proved for the names below a zone, and not for those above it or beside it', async () => {
    put(`a.${zone}`, textOf(owner))
    assert.equal((await serve(owner, `x.a.${zone}`)).status, 'success')
    assert.equal((await serve(owner, `a.${zone}`)).status, 'success')
    assert.partialDeepStrictEqual(await serve(owner, `b.${zone}`), { error: 24 })
    assert.partialDeepStrictEqual(await serve(owner, zone), { error: 24 })
    assert.partialDeepStrictEqual(await serve(owner, `y.a.${zone}`, `b.${zone}`), { error: 24 })
  })

  it('that are wildcards need the proof of the name without the asterisk', async () => {
    put(`shop.${zone}`, textOf(owner))
    // The proof was found, so the refusal is only about the missing certificate.
    const proved = (await serve(owner, `*.shop.${zone}`)) as { message?: string }
    assert.match(proved.message ?? '', /needs a certificate of yours/)
    const refused = (await serve(owner, `*.${zone}`)) as { message?: string }
    assert.match(refused.message ?? '', new RegExp(`TXT record '_roost-proof\\.${zone}'`))
  })

  it('are not proved by an uploaded certificate, and an upload needs no proof', async () => {
    const { pem: chain, pkey } = await makeTestCertificate({
      subject: `CN=shop.${zone}`,
      names: [`shop.${zone}`],
    })
    await stranger.api.one('createCertificates', { body: { cn: `shop.${zone}`, chain, pkey } })
    assert.deepEqual(dns.asked, [])
    assert.partialDeepStrictEqual(await serve(stranger, `shop.${zone}`), { error: 24 })
  })

  it('need no proof below the metro domain', async () => {
    const { entries } = await owner.api.attempt('createServices', {
      body: [{ services: [{ port: 443 }], domains: [{ name: `w${names}` }] }, { services: [{ port: 443 }] }],
    })
    assert.deepEqual(
      entries.map(({ status }) => status),
      ['success', 'success'],
    )
    assert.deepEqual(dns.asked, [])
  })

  it('that are reserved are refused without a look-up', async () => {
    const refused = (await serve(owner, 'api.metro.test')) as { message?: string }
    assert.match(refused.message ?? '', /reserved/)
    assert.deepEqual(dns.asked, [])
  })

  it('of one request are looked up at once, each zone once, and each object is answered for itself', async () => {
    put(`a.${zone}`, textOf(owner))
    const { entries } = await owner.api.attempt('createServices', {
      body: [body(`a.${zone}`), body(`b.${zone}`), body(`c.a.${zone}`)],
    })
    assert.deepEqual(
      entries.map(({ status }) => status),
      ['success', 'error', 'success'],
    )
    assert.equal(new Set(dns.asked).size, dns.asked.length)
  })

  it('that DNS does not answer for are refused for now, in a bounded time', async () => {
    dns.answers.set(`TXT _roost-proof.shop.${zone}`, 'silence')
    dns.answers.set(`TXT _roost-proof.${zone}`, serverFailed)
    const beganMs = performance.now()
    const refused = (await serve(owner, `shop.${zone}`)) as { error?: number; message?: string }
    assert.ok(performance.now() - beganMs < 4_000)
    assert.equal(refused.error, 10)
    assert.match(refused.message ?? '', /DNS did not answer/)
    // One record is enough, although the server for the other name still does not answer.
    put(zone, textOf(owner))
    assert.equal((await serve(owner, `shop.${zone}`)).status, 'success')
  })

  it('stay when the record goes, can be made again for some minutes, and then need it again', async () => {
    put(zone, textOf(owner))
    assert.equal((await serve(owner, `shop.${zone}`)).status, 'success')
    dns.answers.clear()
    dns.asked.length = 0
    assert.equal((await serve(owner, `more.${zone}`)).status, 'success')
    assert.partialDeepStrictEqual(await serve(stranger, `most.${zone}`), { error: 24 })
    clockMs += rememberedMs
    assert.partialDeepStrictEqual(await serve(owner, `most.${zone}`), { error: 24 })
    assert.deepEqual(await servedBy(owner), [`shop.${zone}`, `more.${zone}`])
  })

  it('are looked up for one user only so often in a minute, which holds no other user back', async () => {
    const many = Array.from({ length: 100 }, (_, index) => body(`a${index}.b${index}.${zone}`))
    const refusals = async (user: TestUser) => {
      const { entries } = await user.api.attempt('createServices', { body: many })
      return entries.map((entry) => ('error' in entry ? entry.error : 0))
    }
    const first = await refusals(stranger)
    assert.ok(first.includes(24) && !first.includes(5), 'a full request comes through')
    const asked = dns.asked.length
    const second = await refusals(stranger)
    assert.ok(second.includes(5))
    assert.ok(dns.asked.length - asked <= 250)
    put(zone, textOf(owner))
    assert.equal((await serve(owner, zone)).status, 'success')
    const refused = (await serve(stranger, `late.${zone}`)) as { error?: number; message?: string }
    assert.equal(refused.error, 5)
    assert.match(refused.message ?? '', /try again in \d+ s/)
    clockMs += 60_000
    assert.partialDeepStrictEqual(await serve(stranger, `late.${zone}`), { error: 24 })
  })
})
