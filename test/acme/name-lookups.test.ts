import assert from 'node:assert/strict'
import type { Answer } from 'dns-packet'
import { openNameLookups } from '../../src/acme/name-lookups.ts'
import type { NameLookups } from '../../src/acme/name-lookups.ts'
import { startDnsServer } from '../support/dns-server.ts'
import type { DnsServer } from '../support/dns-server.ts'

const refused = 5
const noSuchName = 3

describe('questions to DNS', () => {
  let server: DnsServer
  let answers: DnsServer['answers']
  let asked: string[]
  let lookups: NameLookups

  beforeEach(async () => {
    server = await startDnsServer()
    ;({ answers, asked } = server)
    lookups = openNameLookups(server.resolver)
  })
  afterEach(async () => {
    lookups.cancel()
    await server.close()
  })

  const caa = (name: string, value: string, flags = 0): Answer => ({
    type: 'CAA',
    name,
    data: { flags, tag: 'issue', value, issuerCritical: flags !== 0 },
  })

  it('distinguish a name that does not exist from a name without addresses', async () => {
    answers.set('A www.example.test', noSuchName)
    assert.deepEqual(await lookups.addresses('www.example.test'), {
      a: { found: [], failure: 'no-such-name' },
      aaaa: { found: [] },
      cname: [],
    })
  })

  it('do not take a refusal for an answer', async () => {
    answers.set('AAAA www.example.test', refused)
    assert.equal((await lookups.addresses('www.example.test')).aaaa.failure, 'other')
  })

  it('keep a bounded number of addresses and aliases, and follow no circle', async () => {
    const name = 'www.example.test'
    answers.set(
      `A ${name}`,
      Array.from({ length: 20 }, (_, index) => ({ type: 'A' as const, name, data: `10.0.0.${index}` })),
    )
    answers.set(`CNAME ${name}`, [{ type: 'CNAME', name, data: 'b.test' }])
    answers.set('CNAME b.test', [{ type: 'CNAME', name: 'b.test', data: name }])
    const { a, cname } = await lookups.addresses(name)
    assert.equal(a.found.length, 8)
    assert.deepEqual(cname, ['b.test', name])
  })

  it('go up to the closest CAA records, past names that do not exist', async () => {
    answers.set('CAA a.b.example.test', noSuchName)
    answers.set('CAA example.test', [caa('example.test', 'acme.example', 128)])
    assert.deepEqual(await lookups.caa('a.b.example.test'), {
      at: 'example.test',
      records: [{ critical: true, tag: 'issue', value: 'acme.example' }],
    })
    assert.deepEqual(asked, ['CAA a.b.example.test', 'CAA b.example.test', 'CAA example.test'])
  })

  it('go up until one fails, which is reported as the result, or until the last label', async () => {
    answers.set('CAA example.test', refused)
    assert.deepEqual(await lookups.caa('www.example.test'), {
      at: 'example.test',
      records: [],
      failure: 'other',
    })
    answers.clear()
    asked.length = 0
    assert.deepEqual(await lookups.caa('www.example.test'), { records: [] })
    assert.equal(asked.at(-1), 'CAA test')
  })

  it('are bounded for a name with many labels, and beyond the bound the records count as unknown', async () => {
    assert.deepEqual(await lookups.caa(`${'a.'.repeat(21)}test`), {
      at: 'a.test',
      records: [],
      failure: 'other',
    })
    assert.equal(asked.length, 20)
  })
})
