import { strict as assert } from 'node:assert'
import { Scope } from '../../src/contract/operation.ts'
import { identifiersOf } from '../../src/contract/operation.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { operations } from '../../src/contract/operations.ts'
import { namesObjects } from '../../src/contract/request/body.ts'
import { querySchema } from '../../src/contract/request/query.ts'
import { makePartAuthority } from '../../src/trust/part-authority.ts'
import { startTestApi } from '../support/api-server.ts'
import type { RawAnswer, RawCall, TestApi, TestUser } from '../support/api-server.ts'
import { kindOf, leastBody, nobody, requiredParameters, testHostName } from '../support/least-request.ts'
import type { MadeKind } from '../support/least-request.ts'

const table = Object.values(operations) as readonly Operation[]
const manyObjects = {
  instances: 100_000,
  liveInstances: 100_000,
  serviceGroups: 100_000,
  volumes: 100_000,
  totalVolumeMb: 1_000_000,
}
const missing = nobody.uuid

/** Every parameter of the query in global scope. */
function queryNames(operation: Operation): readonly string[] {
  const identifiers = namesObjects(operation) ? identifiersOf(operation) : []
  const ofObjects = operation.inQuery ? Object.keys(operation.body.properties) : []
  return [...identifiers, ...ofObjects, ...Object.keys(querySchema(operation).properties)]
}

describe('the conventions of the API hold for every operation', () => {
  let api: TestApi
  let user: TestUser
  /** The UUID of a service with autoscale, whose policies are the parts of an object that are tested. */
  let service = ''
  const configureService = async () => {
    const made = await user.api.one('createInstances', { body: { image: 'hello', service_group: {} } })
    assert.ok(made.service_group)
    service = made.service_group.uuid
    await user.api.one('createAutoscale', { object: service, body: { master: { uuid: made.uuid } } })
  }
  before(async () => {
    const hostsAddress = { host: '192.0.2.10', port: 7075 }
    api = await startTestApi({ authority: await makePartAuthority(Date.now()), settings: { hostsAddress } })
  })
  after(() => api.close())

  const global = (operation: Operation, call: Partial<RawCall> & { readonly query?: string } = {}) =>
    api.send({
      method: operation.method,
      token: user.token,
      headers: { accept: 'application/json' },
      ...call,
      path: `${operation.path.replace('{owner}', service)}${call.query ?? ''}`,
    })
  const local = (
    operation: Operation,
    object: string,
    call: Partial<RawCall> & { readonly query?: string } = {},
  ) =>
    api.send({
      method: operation.method,
      token: user.token,
      headers: { accept: 'application/json' },
      ...call,
      path: `${operation.localPath?.replace('{owner}', service).replace('{object}', object)}${call.query ?? ''}`,
    })
  const assertRefused = (answer: RawAnswer, message: RegExp) => {
    assert.equal(answer.status, 400, answer.text)
    assert.equal(answer.json.status, 'error')
    assert.ok(
      answer.json.errors.some((error: { message: string }) => message.test(error.message)),
      answer.text,
    )
    assert.ok(answer.json.errors.every((error: { status: number }) => error.status === 400))
  }

  for (const operation of table) {
    describe(operation.id, () => {
      const named = namesObjects(operation)
      const ofKind = kindOf(operation)
      const { kind, get } = ofKind
      const isPart = operation.path.includes('{owner}')
      const keys = identifiersOf(operation)
      const isKnownByUuid = keys.includes('uuid')
      const by = keys.includes('name') ? 'name' : 'uuid'
      const ofOwner = () => (isPart ? { owner: service } : {})
      const make = async ({ create, body }: MadeKind) => {
        const made: Partial<typeof nobody> = await user.api.one(create, { ...ofOwner(), body })
        return made[by]!
      }
      let object: string
      // The number of tokens of an account is bounded, so each operation has a user of its own.
      before(async () => {
        user = await api.addUser({ hard: manyObjects, admin: true })
      })
      beforeEach(async () => {
        if (isPart) await configureService()
        object = 'create' in ofKind ? await make(ofKind) : testHostName
      })
      const valid = () => (named ? { ...leastBody(operation), [by]: object } : leastBody(operation))

      if (operation.streams) {
        it('answers 200 and a stream that begins at once', async () => {
          const answer = await global(operation, { body: valid() })
          assert.equal(answer.status, 200, answer.text)
          assert.equal(answer.headers['content-type'], 'text/event-stream; charset=utf-8')
          assert.match(answer.text, /^retry: \d+\n\n/)
        })
      } else {
        it('answers 200 and an envelope with exactly one key of data', async () => {
          const answer = await global(operation, { body: valid() })
          assert.equal(answer.status, 200, answer.text)
          assert.deepEqual(Object.keys(answer.json.data), [operation.dataKey])
          assert.ok(Array.isArray(answer.json.data[operation.dataKey]))
        })
      }

      it('answers 401 without a token, and with one that is none', async () => {
        const without: readonly Record<string, string>[] = [
          {},
          { authorization: 'Bearer nonsense' },
          { authorization: 'Basic eDp5' },
        ]
        for (const headers of without) {
          const path = operation.path.replace('{owner}', service)
          const answer = await api.send({ method: operation.method, path, headers, body: valid() })
          assert.equal(answer.status, 401)
          const message = "Missing or invalid API token; send the header 'Authorization: Bearer <token>'"
          assert.deepEqual(answer.json, {
            status: 'error',
            message,
            errors: [{ status: 401, error: 14, message }],
          })
        }
      })

      it('names an unknown parameter of the body with its path', async () => {
        assertRefused(
          await global(operation, { body: { ...valid(), bogus: 1 } }),
          /^Unknown parameter 'bogus' in /,
        )
        const inArray = await global(operation, { body: [valid(), { ...valid(), bogus: 1 }] })
        assertRefused(inArray, /^Unknown parameter '\[1\]\.bogus' in /)
      })

      it('names an unknown parameter of the query', async () => {
        const answer = await global(operation, { query: '?bogus=1', body: valid() })
        assertRefused(answer, /^Unknown parameter 'bogus' in the query$/)
      })

      it('names what has the wrong type', async () => {
        for (const [name, schema] of Object.entries(operation.body.properties)) {
          const wrong = 'type' in schema && schema.type === 'object' ? 7 : { not: 'this' }
          const answer = await global(operation, { body: { ...valid(), [name]: wrong } })
          assertRefused(answer, new RegExp(`'${name}(\\.\\w+)?'`))
        }
      })

      it('takes strings for strings and numbers for numbers in bodies', async () => {
        for (const [name, schema] of Object.entries(operation.body.properties)) {
          if (!('type' in schema) || (schema.type !== 'integer' && schema.type !== 'boolean')) continue
          const text = schema.type === 'integer' ? '1' : 'true'
          assertRefused(
            await global(operation, { body: { ...valid(), [name]: text } }),
            new RegExp(`'${name}' in .* has type 'string'`),
          )
        }
      })

      it('takes null in a body for what is left out, where it may be left out', async () => {
        const { required: needed = [] } = operation.body as { readonly required?: readonly string[] }
        const optional = Object.keys(operation.body.properties).filter((name) => !needed.includes(name))
        const nulls = Object.fromEntries(
          [...optional, ...(named ? ['uuid'] : [])].map((name) => [name, null]),
        )
        const answer = await global(operation, { body: { ...nulls, ...valid() } })
        assert.equal(answer.status, 200, answer.text)
        for (const name of needed) {
          assertRefused(
            await global(operation, { body: { ...valid(), [name]: null } }),
            new RegExp(`^'${name}' in .* has type 'null', but expected`),
          )
        }
      })

      it('refuses an empty value in the query, by name', async () => {
        for (const name of queryNames(operation)) {
          for (const text of [`?${name}=`, `?${name}=a&${name}=`]) {
            const answer = await global(operation, { query: text })
            assertRefused(answer, new RegExp(`^Query parameter '${name}' has an empty value`))
          }
        }
      })

      it('refuses bodies that are neither an object nor an array of objects', async () => {
        for (const body of ['7', '"x"', 'null', 'true', '[1]', '[[]]', '[null]']) {
          assertRefused(await global(operation, { body }), /expected 'object'/)
        }
      })

      it('answers 400 to a body that is not JSON', async () => {
        assertRefused(await global(operation, { body: '{"a":' }), /not valid JSON/)
      })

      it('refuses too many objects with code 5', async () => {
        const answer = await global(operation, { body: Array.from({ length: 101 }, valid) })
        assert.equal(answer.status, 400)
        assert.equal(answer.json.errors[0].error, 5)
      })

      if (operation.id in requiredParameters) {
        it('asks for a body where the path or the query names the object', async () => {
          for (const call of [{}, { body: '' }]) {
            assertRefused(await local(operation, object, call), /^The body of the request is missing/)
            const answer = await global(operation, { query: `?name=${object}`, ...call })
            assertRefused(answer, /^The body of the request is missing/)
          }
        })
      } else if (operation.scope !== Scope.Create) {
        it('accepts an empty body that announces JSON', async () => {
          const answer = await global(operation, {
            query:
              operation.scope === Scope.Objects
                ? `?${by}=${object}${operation.inQuery && 'timeout_ms' in operation.body.properties ? '&timeout_ms=1' : ''}`
                : '',
            headers: { accept: 'application/json', 'content-type': 'application/json' },
          })
          assert.equal(answer.status, 200, answer.text)
        })
      }

      if (named) {
        it('takes an array, answers in its order, and names what it does not find', async () => {
          const unknown = keys.map((key) => ({ [key]: nobody[key] }))
          const body = [valid(), ...unknown.map((names) => ({ ...leastBody(operation), ...names }))]
          const answer = await global(operation, { body })
          assert.equal(answer.status, 200)
          const [first, ...others] = answer.json.data[operation.dataKey]
          assert.equal(first[by], object)
          const notFound = unknown.map((names) => {
            const [by, value] = Object.entries(names)[0]!
            return { status: 'error', error: 8, ...names, message: `No ${kind} with ${by} '${value}'` }
          })
          assert.deepEqual(others, notFound)
          assert.equal(typeof answer.json.message, 'string')
        })

        it('says error, not partial success, where every object failed', async () => {
          const body = [{ ...leastBody(operation), [by]: nobody[by] }]
          const answer = await global(operation, { body })
          assert.deepEqual([answer.status, answer.json.status], [200, 'error'])
          assert.equal(answer.json.message, 'Failed to perform all operations')
        })

        it('takes exactly one of uuid and name, and an empty string for none', async () => {
          const other = by === 'name' ? 'uuid' : 'name'
          const both = await global(operation, { body: { ...valid(), [other]: nobody[other] } })
          const refused =
            keys.length > 1
              ? /'uuid' and 'name' cannot be given together/
              : new RegExp(`^Unknown parameter '${other}'`)
          assertRefused(both, refused)
          const empty = await global(operation, { body: { ...valid(), [other]: '' } })
          assert.equal(empty.json.data[operation.dataKey][0][by], object)
        })

        it('refuses malformed identifiers wherever they stand', async () => {
          const body = leastBody(operation)
          for (const key of keys) {
            for (const call of [
              { body: { ...body, [key]: 'șmth' } },
              { query: `?${key}=${encodeURIComponent('șmth')}`, body },
            ]) {
              assertRefused(await global(operation, call), /^Invalid (name 'șmth':|UUID 'șmth'$)/)
            }
          }
          assertRefused(await local(operation, 'a--b', { body }), /^Invalid (name 'a--b':|UUID 'a--b'$)/)
        })

        it('does not take identifiers from query and body at once', async () => {
          const body = { ...leastBody(operation), [by]: nobody[by] }
          assertRefused(
            await global(operation, { query: `?${by}=${object}`, body }),
            /^Identifiers in .* must not be given both in the query and in the body/,
          )
        })

        if (keys.length === 1) {
          it(`takes the object from the path, by ${by} in any case`, async () => {
            const answer = await local(operation, object.toUpperCase())
            assert.equal(answer.json.data[operation.dataKey][0][by], object, answer.text)
          })
        } else {
          it('takes the object from the path, by name in any case and by UUID', async () => {
            const shown: Partial<typeof nobody> = await user.api.one(get, { object })
            const uuid = shown.uuid!
            const upper = object.toUpperCase()
            for (const named of operation.method === 'DELETE' ? [upper] : [upper, uuid]) {
              const answer = await local(operation, named, { body: leastBody(operation) })
              assert.equal(answer.json.data[operation.dataKey][0].uuid, uuid, answer.text)
            }
          })
        }

        it('refuses identifiers and, unless it changes properties, arrays in local scope', async () => {
          for (const body of [{ uuid: missing }, { name: 'nobody' }]) {
            assertRefused(await local(operation, object, { body }), /the path already names the object/)
          }
          assertRefused(
            await local(operation, object, { query: `?${by}=${object}` }),
            /the path already names the object/,
          )
          const list = await local(operation, object, { body: [{}] })
          if (operation.changes) assert.equal(list.json.data[operation.dataKey][0][by], object, list.text)
          else assertRefused(list, /expected 'object'/)
        })

        it('finds nothing for an unknown object in the path', async () => {
          const unknown = isKnownByUuid ? missing : 'nobody'
          const answer = await local(operation, unknown, { body: leastBody(operation) })
          // Clients decode every entry of a policy's status as a policy, so a failed one is an HTTP status.
          const fails = isPart && operation.method === 'GET'
          assert.equal(answer.status, fails ? 404 : 200)
          const [failure] = fails ? answer.json.errors : answer.json.data[operation.dataKey]
          assert.equal(failure.error, 8)
        })
      }

      if (operation.localPath === `${operation.path}/{object}` && by === 'name') {
        it('says whether a word in the path that names no object could have been an endpoint', async () => {
          const answer = await local(operation, 'Templates', { body: leastBody(operation) })
          const [failure] = answer.status === 404 ? answer.json.errors : answer.json.data[operation.dataKey]
          const nothing = `No ${kind} with name 'templates'`
          const neither = `${nothing}, and no API endpoint '${operation.path}/Templates'`
          // Words of endpoints come only directly after a collection.
          const isCollection = operation.path.split('/').length === 3
          assert.equal(failure.message, isCollection ? neither : nothing)
          assert.equal(failure.error, 8)
        })
      }

      if (operation.scope === Scope.Objects) {
        it('asks for an identifier where there is none', async () => {
          const unnamed = leastBody(operation)
          for (const body of [undefined, unnamed, [], [unnamed]]) {
            const answer = await global(operation, body === undefined ? {} : { body })
            assertRefused(answer, /^Missing identifier/)
            assert.equal(answer.json.errors[0].error, 13)
          }
        })
      }

      if (operation.paged) {
        it('pages with count and from', async () => {
          for (const query of ['?count=0', '?count=x', '?count=1001', '?count=1&count=2']) {
            assert.equal((await global(operation, { query })).status, 400)
          }
          const answer = await global(operation, { query: '?count=1&from=0' })
          assert.equal(answer.json.data[operation.dataKey].length, 1, answer.text)
        })
      }

      it('answers 405 with the methods that there are', async () => {
        const isPatched = table.some(({ method, path }) => method === 'PATCH' && path === operation.path)
        const answer = await global(operation, { method: isPatched ? 'PUT' : 'PATCH' })
        assert.equal(answer.status, 405)
        assert.equal(answer.json.errors[0].error, 2)
        assert.ok(String(answer.headers['allow']).split(', ').includes(operation.method))
      })
    })
  }
})
