import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import {
  platformsOwn,
  readService,
  serviceChoice,
  serviceChoiceProblems,
} from '../../../src/api/service/new-service.ts'
import { createServiceBody } from '../../../src/contract/service/fields.ts'
import { strictValidator } from '../../../src/contract/request/validators.ts'
import { Handler } from '../../../src/domain/service/handler.ts'

const metro = 'metro.test'
const validate = strictValidator(createServiceBody)

const domainText = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'B', '7', '-', '.', '*', '_'), minLength: 1, maxLength: 12 }),
  fc.constantFrom(
    'web',
    'WEB',
    `web.${metro}.`,
    'www.example.com.',
    'www.example.com..',
    'api',
    '*.example.com.',
  ),
)
const serviceBody = fc.record(
  {
    services: fc.array(
      fc.record(
        {
          port: fc.constantFrom(80, 443, 8080, 8081),
          destination_port: fc.constantFrom(80, 443, 8080),
          handlers: fc.subarray(Object.values(Handler)),
        },
        { requiredKeys: ['port'] },
      ),
      { maxLength: 2 },
    ),
    domains: fc.array(
      fc.record(
        { name: domainText, certificate: fc.constantFrom({ name: 'c1' }, {}) },
        { requiredKeys: ['name'] },
      ),
      { maxLength: 2 },
    ),
    soft_limit: fc.integer({ min: 1, max: 65_535 }),
    hard_limit: fc.integer({ min: 1, max: 65_535 }),
  },
  { requiredKeys: [] },
)

describe('a new service', () => {
  it('has all its defaults resolved, or is refused with a sentence for each problem', () => {
    let accepted = 0
    fc.assert(
      fc.property(serviceBody, (body) => {
        assert.deepEqual(validate(body), [])
        const read = readService(body, metro, 'service group creation arguments')
        if (!read.ok) {
          assert.ok(read.problems.length > 0)
          for (const { message, httpStatus } of read.problems) {
            assert.equal(httpStatus, 400)
            assert.doesNotMatch(message, /[{}]|undefined/)
          }
          return
        }
        accepted++
        const { ports, domains, softLimit, hardLimit } = read.value
        assert.deepEqual(
          [ports.length, domains.length],
          [body.services?.length ?? 0, body.domains?.length ?? 0],
        )
        assert.equal(new Set(domains.map(({ fqdn }) => fqdn)).size, domains.length)
        assert.ok(ports.every(({ handlers }) => handlers.length > 0))
        assert.ok(softLimit <= hardLimit)
        assert.ok(domains.every(({ kind, certificate }) => kind === 'custom' || certificate === undefined))
        const reserved = domains.some(({ fqdn }) => fqdn === `api.${metro}`)
        const publicPorts = { offset: 3, withheld: new Set([8083]) }
        const withheld = ports.some(({ port }) => port === 8080)
        assert.equal(platformsOwn(read.value, publicPorts) !== undefined, reserved || withheld)
      }),
      { numRuns: 1_000 },
    )
    assert.ok(accepted > 20, `only ${accepted} were accepted`)
  })

  it('of an instance is chosen exactly if no problem is found in the request', () => {
    const group = fc.record({
      service: serviceBody,
      name: fc.constantFrom('web', undefined),
      uuid: fc.constantFrom('11111111-1111-4111-8111-111111111111', undefined),
    })
    fc.assert(
      fc.property(group, ({ service, name, uuid }) => {
        const body = { ...service, ...(name && { name }), ...(uuid && { uuid }) }
        const problems = serviceChoiceProblems(body, metro)
        const choice = serviceChoice(body, metro)
        assert.equal(choice === undefined, problems.length > 0)
        if (choice !== undefined) assert.equal('made' in choice, name === undefined && uuid === undefined)
      }),
    )
    assert.equal(serviceChoice(undefined, metro), undefined)
    assert.deepEqual(serviceChoiceProblems(undefined, metro), [])
  })
})
