import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { resolveLimits, resolvePorts } from '../../../src/domain/service/ports.ts'
import type { WantedPort } from '../../../src/domain/service/ports.ts'
import { Handler } from '../../../src/domain/service/handler.ts'

const handlers = Object.values(Handler)
const subsets = Array.from({ length: 2 ** handlers.length }, (_, bits) =>
  handlers.filter((_handler, index) => (bits & (1 << index)) !== 0),
)

/** Rule 3 of the API's document, sentence by sentence. */
function keepsTheRules({ port, handlers: given = [], destinationPort }: WantedPort): boolean {
  const has = (handler: Handler) => given.includes(handler)
  if (port === 80 && (!has('http') || has('tls'))) return false
  if (port === 443 && !(has('http') && has('tls'))) return false
  if (has('redirect') && port !== 80) return false
  if (has('redirect') && destinationPort !== undefined && destinationPort !== 443) return false
  return port === 80 || port === 443 || (has('tls') && !has('http'))
}

const wantedPort = fc.record(
  {
    port: fc.oneof(fc.constantFrom(80, 443, 1, 65_535), fc.integer({ min: 1, max: 65_535 })),
    destinationPort: fc.oneof(fc.constantFrom(80, 443, 8080), fc.integer({ min: 1, max: 65_535 })),
    handlers: fc.subarray(handlers),
  },
  { requiredKeys: ['port'] },
)

describe('published ports', () => {
  for (const port of [80, 443, 8080, 1, 65_535]) {
    for (const given of subsets) {
      for (const destinationPort of [undefined, 80, 443, 8080]) {
        const wanted = {
          port,
          handlers: given,
          ...(destinationPort === undefined ? {} : { destinationPort }),
        }
        const expected = keepsTheRules(wanted)
        it(`${port} to ${destinationPort} with [${given.join(' ')}] ${expected ? 'is accepted' : 'is refused'}`, () => {
          assert.equal(resolvePorts([wanted]).ok, expected)
        })
      }
    }
  }

  it('without handlers have those that they need, and the public port as destination', () => {
    assert.deepEqual(resolvePorts([{ port: 80 }, { port: 443, destinationPort: 8080 }, { port: 5432 }]), {
      ok: true,
      ports: [
        { port: 80, destinationPort: 80, handlers: ['http'] },
        { port: 443, destinationPort: 8080, handlers: ['tls', 'http'] },
        { port: 5432, destinationPort: 5432, handlers: ['tls'] },
      ],
    })
  })

  it('without handlers are accepted whatever the port', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 65_535 }), (port) => {
        const outcome = resolvePorts([{ port }])
        assert.ok(outcome.ok && keepsTheRules(outcome.ports[0]!))
      }),
    )
  })

  it('redirect to 443 where nothing is said', () => {
    assert.deepEqual(resolvePorts([{ port: 80, handlers: ['redirect', 'http'] }]), {
      ok: true,
      ports: [{ port: 80, destinationPort: 443, handlers: ['http', 'redirect'] }],
    })
  })

  it('say all that is wrong with them', () => {
    const outcome = resolvePorts([
      { port: 443, handlers: ['redirect'] },
      { port: 80, handlers: ['http', 'redirect'], destinationPort: 8443 },
      { port: 443 },
    ])
    assert.deepEqual(!outcome.ok && outcome.refusals, [
      { kind: 'duplicate', port: 443 },
      { kind: 'missing-handler', port: 443, handler: 'tls' },
      { kind: 'missing-handler', port: 443, handler: 'http' },
      { kind: 'forbidden-handler', port: 443, handler: 'redirect' },
      { kind: 'redirect-destination', port: 80, destination: 8443 },
    ])
  })

  it('that are accepted keep the rules, are published once each, and stay as they are when given again', () => {
    fc.assert(
      fc.property(fc.array(wantedPort, { maxLength: 6 }), (wanted) => {
        const outcome = resolvePorts(wanted)
        if (!outcome.ok) return
        assert.equal(new Set(outcome.ports.map(({ port }) => port)).size, wanted.length)
        assert.ok(outcome.ports.every(keepsTheRules))
        assert.deepEqual(resolvePorts(outcome.ports), outcome)
      }),
    )
  })
})

describe('limits of connections', () => {
  it('are 1 and 65535 where nothing is said', () => {
    assert.deepEqual(resolveLimits({}), { softLimit: 1, hardLimit: 65_535 })
  })

  it('may be equal, and the soft one not above the hard one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 65_535 }),
        fc.integer({ min: 1, max: 65_535 }),
        (softLimit, hardLimit) => {
          const limits = resolveLimits({ softLimit, hardLimit })
          assert.deepEqual(limits, softLimit <= hardLimit ? { softLimit, hardLimit } : undefined)
        },
      ),
    )
  })
})
