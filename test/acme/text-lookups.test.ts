import assert from 'node:assert/strict'
import { createTextLookup, textLookupLimitMs } from '../../src/acme/text-lookups.ts'
import { startDnsServer } from '../support/dns-server.ts'
import type { DnsServer } from '../support/dns-server.ts'

const name = '_roost-proof.example.test'
const serverFailed = 2
const noSuchName = 3

describe('a look at the texts of a name', () => {
  let server: DnsServer
  beforeEach(async () => {
    server = await startDnsServer()
  })
  afterEach(() => server.close())

  const look = () => createTextLookup(server.resolver)(name)

  it('finds each text whole, also those that come in pieces', async () => {
    server.answers.set(`TXT ${name}`, [
      { type: 'TXT', name, data: 'one' },
      { type: 'TXT', name, data: ['a'.repeat(255), 'b'] },
    ])
    assert.deepEqual((await look())?.toSorted(), [`${'a'.repeat(255)}b`, 'one'].toSorted())
  })

  it('distinguishes an absent text from a DNS that gives no answer', async () => {
    assert.deepEqual(await look(), [])
    server.answers.set(`TXT ${name}`, noSuchName)
    assert.deepEqual(await look(), [])
    server.answers.set(`TXT ${name}`, serverFailed)
    assert.equal(await look(), undefined)
  })

  it('ends within its time limit if no server answers', async () => {
    server.answers.set(`TXT ${name}`, 'silence')
    const beganMs = performance.now()
    assert.equal(await look(), undefined)
    assert.ok(performance.now() - beganMs < textLookupLimitMs + 500)
    assert.ok(server.asked.length > 1, 'it asks again')
  })
})
