import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { decode, encode } from 'dns-packet'
import type { Answer } from 'dns-packet'
import { openNameLookups } from '../../src/acme/name-lookups.ts'
import type { NameLookups } from '../../src/acme/name-lookups.ts'

const refused = 5
const noSuchName = 3

describe('questions to DNS', () => {
  let server: Socket
  let lookups: NameLookups
  /** `<type> <name>` to its records, or the code of a failure; what is absent has no such record. */
  let answers: Map<string, readonly Answer[] | number>
  let asked: string[]

  beforeEach(async () => {
    answers = new Map()
    asked = []
    server = createSocket('udp4').bind(0, '127.0.0.1')
    await once(server, 'listening')
    server.on('message', (message, { port, address }) => {
      const { id = 0, questions = [] } = decode(message)
      const question = `${questions[0]?.type} ${questions[0]?.name}`
      asked.push(question)
      const found = answers.get(question) ?? []
      const [records, code] = typeof found === 'number' ? [[], found] : [found, 0]
      server.send(
        encode({ type: 'response', id, questions, answers: [...records], flags: code }),
        port,
        address,
      )
    })
    lookups = openNameLookups(`127.0.0.1:${server.address().port}`)
  })
  afterEach(() => {
    lookups.cancel()
    server.close()
  })

  const caa = (name: string, value: string, flags = 0): Answer => ({
    type: 'CAA',
    name,
    data: { flags, tag: 'issue', value, issuerCritical: flags !== 0 },
  })

  it('tell a name that is not there from one without addresses', async () => {
    answers.set('A www.example.test', noSuchName)
    assert.deepEqual(await lookups.addresses('www.example.test'), {
      a: { found: [], failure: 'no-such-name' },
      aaaa: { found: [] },
      cname: [],
    })
  })

  it('tell a refusal as what it is not: an answer', async () => {
    answers.set('AAAA www.example.test', refused)
    assert.equal((await lookups.addresses('www.example.test')).aaaa.failure, 'other')
  })

  it('keep no more addresses and aliases than anybody looks at, and follow no circle', async () => {
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

  it('climb to the closest CAA records, past names that are not there', async () => {
    answers.set('CAA a.b.example.test', noSuchName)
    answers.set('CAA example.test', [caa('example.test', 'acme.example', 128)])
    assert.deepEqual(await lookups.caa('a.b.example.test'), {
      at: 'example.test',
      records: [{ critical: true, tag: 'issue', value: 'acme.example' }],
    })
    assert.deepEqual(asked, ['CAA a.b.example.test', 'CAA b.example.test', 'CAA example.test'])
  })

  it('end at a failure on the way, which forbids as well, and at the last label', async () => {
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

  it('are as many as a name has labels, up to a bound, and what is above it is not taken for nothing', async () => {
    assert.deepEqual(await lookups.caa(`${'a.'.repeat(21)}test`), {
      at: 'a.test',
      records: [],
      failure: 'other',
    })
    assert.equal(asked.length, 20)
  })
})
