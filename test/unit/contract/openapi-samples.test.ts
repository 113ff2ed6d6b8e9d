import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { RequestError } from '../../../src/contract/errors.ts'
import { openApiDocument } from '../../../src/contract/openapi/openapi.ts'
import { Scope, identifiersOf } from '../../../src/contract/operation.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { operations } from '../../../src/contract/operations.ts'
import type { RawRequest } from '../../../src/contract/request/parsed-request.ts'
import { namesObjects } from '../../../src/contract/request/body.ts'
import { requestParser } from '../../../src/contract/request/parser.ts'
import { schemaSamples } from '../../support/schema-samples.ts'
import type { Json } from '../../support/schema-samples.ts'

const document = openApiDocument() as Json
const samples = schemaSamples(document)
const uuid = '11111111-1111-4111-8111-111111111111'

const table = Object.values(operations) as readonly Operation[]
const parsers = new Map(table.map((operation) => [operation.id, requestParser(operation)]))

/** Every regular expression of the document. */
function patternsIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(patternsIn)
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) => [
    ...(key === 'pattern' && typeof value === 'string' ? [value] : []),
    ...(key === 'patternProperties' ? Object.keys(value as object) : []),
    ...patternsIn(value),
  ])
}

function endpoint({ method, path, localPath }: Operation, local: boolean): Json {
  return document['paths'][local ? localPath! : path][method.toLowerCase()]
}

/** The messages with which a request is refused; none if it is accepted. */
function failuresOf(operation: Operation, request: Partial<RawRequest>): readonly string[] {
  const owner = operation.path.includes('{owner}') ? { owner: 'web' } : {}
  try {
    parsers.get(operation.id)!({ query: '', ...owner, ...request })
    return []
  } catch (error) {
    if (error instanceof RequestError) return error.problems.map(({ message }) => message)
    throw error
  }
}

const component = (name: string) => document['components'].schemas[name] as Json

describe('the requests that openapi.json describes', () => {
  it('are described by expressions that tools in every language read alike', () => {
    const patterns = [...new Set(patternsIn(document))]
    assert.ok(patterns.length > 5)
    // These patterns have no look-around, no named group, no back-reference and no class such as `\d`. Their
    // only escapes are a dot, a star and control characters.
    const portable = /^(?:[^\\(]|\((?!\?)|\(\?:|\\[.*]|\\u00[01789][0-9a-f])*$/u
    for (const pattern of patterns) {
      assert.match(pattern, portable)
      assert.ok(new RegExp(pattern, 'u'))
    }
  })

  for (const operation of table) {
    const scopes = operation.localPath === undefined ? [false] : [false, true]
    for (const local of scopes) {
      const { requestBody, parameters, operationId } = endpoint(operation, local)
      const [by, known] = identifiersOf(operation).includes('name') ? ['name', 'a'] : ['uuid', uuid]
      const object = local ? { object: known } : {}

      if (requestBody !== undefined) {
        it(`are accepted: bodies of ${operationId}`, () => {
          const schema = requestBody.content['application/json'].schema as Json
          fc.assert(
            fc.property(samples.of(schema), (body) => {
              const failures = failuresOf(operation, { body, ...object })
              // A sample may leave out the identifier of an object, because the query may name that object
              // instead. There is no query here, so this one refusal is right.
              const isUnnamed = namesObjects(operation) && !local
              const wrong = failures.filter(
                (message) => !isUnnamed || !message.startsWith('Missing identifier'),
              )
              assert.deepEqual(wrong, [], JSON.stringify(body))
            }),
            { numRuns: 40 },
          )
        })
      }

      it(`are accepted: parameters of the query of ${operationId}`, () => {
        const needsBody = 'required' in operation.body || operation.scope === Scope.Create
        for (const { name, in: place, schema } of parameters) {
          if (place !== 'query' || needsBody) continue
          const names = operation.scope === Scope.Objects && !local && name !== by ? `${by}=${known}&` : ''
          fc.assert(
            fc.property(samples.of(schema as Json), (value) => {
              const query =
                names +
                [value]
                  .flat()
                  .map((one) => `${name}=${encodeURIComponent(String(one))}`)
                  .join('&')
              assert.deepEqual(failuresOf(operation, { query, ...object }), [], query)
            }),
            { numRuns: 20 },
          )
        }
      })
    }
  }

  it('name one object by one identifier: an empty one and null say nothing', () => {
    const master = (given: object) =>
      samples.fits(component('CreateAutoscaleObject'), { name: 'web', master: given })
    for (const given of [{ uuid }, { name: 'a' }, { uuid: '', name: 'a' }, { uuid: null, name: 'a' }]) {
      assert.ok(master(given), JSON.stringify(given))
    }
    for (const given of [{}, { uuid, name: 'a' }, { uuid: '', name: '' }, { name: null }]) {
      assert.ok(!master(given), JSON.stringify(given))
    }
    const volume = (given: object) =>
      samples.fits(component('CreateInstancesObject'), { image: 'a', volumes: [{ at: '/data', ...given }] })
    assert.ok(volume({ uuid: '', name: null, size_mb: 8 }))
    for (const given of [{ name: 'a', size_mb: 8 }, { uuid, name: 'a' }, {}, { size_mb: 0 }]) {
      assert.ok(!volume(given), JSON.stringify(given))
    }
  })

  it('have bounds where the account has narrower ones', () => {
    const size = (sizeMb: unknown) => samples.fits(component('CreateVolumesObject'), { size_mb: sizeMb })
    assert.deepEqual([-1, 0, 1, 2 ** 31 - 1, 2 ** 31, null].map(size), [
      false,
      false,
      true,
      true,
      false,
      false,
    ])
  })

  it('have names that the server takes, and no others', () => {
    const named = (name: string) => samples.fits(component('CreateVolumesObject'), { name, size_mb: 8 })
    for (const name of ['a', 'Web.front-1', '']) assert.ok(named(name), name)
    for (const name of ['0', 'a-', 'a--b', 'a.', 'ș']) assert.ok(!named(name), name)
  })

  it('may have null for every property of a body that may be left out', () => {
    const volume = { name: null, size_mb: 8 }
    assert.ok(samples.fits(component('CreateVolumesObject'), volume))
    assert.deepEqual(failuresOf(operations.createVolumes, { body: volume }), [])
    for (const operation of table) {
      const schema = document['components'].schemas[
        `${operation.id[0]!.toUpperCase()}${operation.id.slice(1)}Object`
      ] as Json | undefined
      for (const [name, property] of Object.entries((schema?.['properties'] ?? {}) as Json)) {
        const isRequired = (schema?.['required'] ?? []).includes(name)
        assert.equal(samples.fits(property as Json, null), !isRequired, `${operation.id} ${name}`)
      }
    }
  })
})
