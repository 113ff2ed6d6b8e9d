import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import {
  changeFacts,
  changeText,
  changedList,
  changedProperties,
} from '../../../src/domain/service/change.ts'
import type { ListChange, ServiceShape } from '../../../src/domain/service/change.ts'

interface Item {
  readonly key: number
  readonly value: string
}

const keyOf = ({ key }: Item) => key
const items = fc.uniqueArray(fc.record({ key: fc.nat(5), value: fc.constantFrom('a', 'b') }), {
  selector: keyOf,
})
const changes = fc.record(
  { set: items, del: fc.uniqueArray(fc.nat(5)), add: items },
  { requiredKeys: ['del', 'add'] },
)

describe('the change of a list', () => {
  const change = (before: readonly Item[], more: Partial<ListChange<Item, number>>) =>
    changedList(before, { del: [], add: [], ...more }, keyOf)
  const [one, two] = [
    { key: 1, value: 'a' },
    { key: 2, value: 'a' },
  ]

  it('replaces first, then takes away, then adds', () => {
    const outcome = change([one], { set: [one, two], del: [1], add: [{ key: 1, value: 'b' }] })
    assert.deepEqual(outcome, { ok: true, list: [two, { key: 1, value: 'b' }] })
  })

  it('puts an item into the place of the one that has its key', () => {
    const outcome = change([one, two], { add: [{ key: 1, value: 'b' }] })
    assert.deepEqual(outcome, { ok: true, list: [{ key: 1, value: 'b' }, two] })
  })

  it('names the first item that is not there, and those that are', () => {
    assert.deepEqual(change([one, two], { del: [1, 3, 4] }), { ok: false, missing: 3, present: [2] })
    assert.deepEqual(change([], { del: [1] }), { ok: false, missing: 1, present: [] })
  })

  it('leaves no key twice, has all that was added, and nothing that was only taken away', () => {
    fc.assert(
      fc.property(items, changes, (before, given) => {
        const outcome = changedList(before, given as ListChange<Item, number>, keyOf)
        if (!outcome.ok) return !(given.set ?? before).some(({ key }) => key === outcome.missing)
        const keys = outcome.list.map(keyOf)
        const added = given.add.map(keyOf)
        assert.equal(new Set(keys).size, keys.length)
        for (const item of given.add) assert.ok(outcome.list.includes(item))
        return given.del.every((key) => added.includes(key) || !keys.includes(key))
      }),
    )
  })
})

describe('what changed of a service', () => {
  const before: ServiceShape = {
    softLimit: 10,
    hardLimit: 100,
    ports: [{ port: 443, destinationPort: 8080, handlers: ['tls', 'http'] }],
    domains: [
      { fqdn: 'a.test', certificateUuid: 'one' },
      { fqdn: 'b.test', certificateUuid: null },
    ],
  }
  const [a, b] = before.domains as [ServiceShape['domains'][number], ServiceShape['domains'][number]]
  const cases: readonly [
    what: string,
    after: Partial<ServiceShape>,
    properties: readonly string[],
    text: string,
  ][] = [
    ['nothing', {}, [], ''],
    ['a limit', { softLimit: 20 }, ['soft_limit'], 'soft_limit from 10 to 20'],
    [
      'both limits',
      { softLimit: 1, hardLimit: 2 },
      ['soft_limit', 'hard_limit'],
      'soft_limit from 10 to 1; hard_limit from 100 to 2',
    ],
    ['all ports', { ports: [] }, ['services'], 'ports none (before: 443:8080)'],
    [
      'handlers',
      { ports: [{ port: 80, destinationPort: 443, handlers: ['http', 'redirect'] }] },
      ['services'],
      'ports 80 to https (before: 443:8080)',
    ],
    [
      'domains',
      { domains: [b, { fqdn: 'c.test', certificateUuid: null }] },
      ['domains'],
      'domains +c.test -a.test',
    ],
    [
      'a certificate',
      { domains: [{ ...a, certificateUuid: 'two' }, b] },
      ['domains'],
      'domains a.test with another certificate',
    ],
    ['the order of domains', { domains: [b, a] }, ['domains'], 'domains in another order'],
  ]
  for (const [what, after, properties, text] of cases) {
    it(`is told: ${what}`, () => {
      const shape = { ...before, ...after }
      assert.deepEqual(changedProperties(before, shape), properties)
      assert.equal(changeText(before, shape), text)
      const names = properties.flatMap((property) => [`${property}_before`, property])
      assert.deepEqual(Object.keys(changeFacts(before, shape)), names)
    })
  }
})
