import { strict as assert } from 'node:assert'
import { Scope } from '../../src/contract/operation.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { operations } from '../../src/contract/operations.ts'
import { namesObjects } from '../../src/contract/request-body.ts'
import { startTestApi } from '../support/api-server.ts'
import type { RawAnswer, RawCall, TestApi, TestUser } from '../support/api-server.ts'

const table = Object.values(operations) as readonly Operation[]
const missing = '11111111-1111-4111-8111-111111111111'

/** The least body that an operation accepts; waits are kept short. */
function minimalBody(operation: Operation): object {
  if (operation.scope === Scope.Create) return { image: 'hello' }
  return 'timeout_ms' in operation.body.properties ? { timeout_ms: 1 } : {}
}

describe('the conventions of the API hold for every operation', () => {
  let api: TestApi
  let user: TestUser
  let instance: string
  before(async () => {
    api = await startTestApi()
    user = await api.addUser({ hard: { instances: 100_000, liveInstances: 100_000 } })
  })
  after(() => api.close())
  beforeEach(async () => {
    instance = (await user.api.one('createInstances', { body: { image: 'hello' } })).name
  })

  const global = (operation: Operation, call: Partial<RawCall> & { readonly query?: string } = {}) =>
    api.send({
      method: operation.method,
      token: user.token,
      headers: { accept: 'application/json' },
      ...call,
      path: `${operation.path}${call.query ?? ''}`,
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
      path: `${operation.localPath?.replace('{object}', object)}${call.query ?? ''}`,
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
      const valid = () => (named ? { ...minimalBody(operation), name: instance } : minimalBody(operation))

      it('answers 200 and an envelope with exactly one key of data', async () => {
        const answer = await global(operation, { body: valid() })
        assert.equal(answer.status, 200, answer.text)
        assert.deepEqual(Object.keys(answer.json.data), [operation.dataKey])
        assert.ok(Array.isArray(answer.json.data[operation.dataKey]))
      })

      it('answers 401 without a token, and with one that is none', async () => {
        const without: readonly Record<string, string>[] = [
          {},
          { authorization: 'Bearer nonsense' },
          { authorization: 'Basic eDp5' },
        ]
        for (const headers of without) {
          const answer = await api.send({
            method: operation.method,
            path: operation.path,
            headers,
            body: valid(),
          })
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

      if (operation.scope !== Scope.Create) {
        it('accepts an empty body that announces JSON', async () => {
          const answer = await global(operation, {
            query:
              operation.scope === Scope.Objects
                ? `?name=${instance}${operation.inQuery && 'timeout_ms' in operation.body.properties ? '&timeout_ms=1' : ''}`
                : '',
            headers: { accept: 'application/json', 'content-type': 'application/json' },
          })
          assert.equal(answer.status, 200, answer.text)
        })
      }

      if (named) {
        it('takes an array, answers in its order, and names what it does not find', async () => {
          const body = [
            { ...valid() },
            { ...minimalBody(operation), uuid: missing },
            { ...minimalBody(operation), name: 'nobody' },
          ]
          const answer = await global(operation, { body })
          assert.equal(answer.status, 200)
          const entries = answer.json.data[operation.dataKey]
          assert.equal(entries.length, 3)
          assert.equal(entries[0].name, instance)
          const notFound = { status: 'error', error: 8 }
          const messages = [`No instance with uuid '${missing}'`, "No instance with name 'nobody'"]
          assert.deepEqual(entries[1], { ...notFound, uuid: missing, message: messages[0] })
          assert.deepEqual(entries[2], { ...notFound, name: 'nobody', message: messages[1] })
          assert.equal(typeof answer.json.message, 'string')
        })

        it('says error, not partial success, where every object failed', async () => {
          const answer = await global(operation, { body: [{ ...minimalBody(operation), name: 'nobody' }] })
          assert.deepEqual([answer.status, answer.json.status], [200, 'error'])
          assert.equal(answer.json.message, 'Failed to perform all operations')
        })

        it('takes exactly one of uuid and name, and an empty string for none', async () => {
          const both = await global(operation, { body: { ...valid(), uuid: missing } })
          assertRefused(both, /'uuid' and 'name' cannot be given together/)
          const empty = await global(operation, { body: { ...valid(), uuid: '' } })
          assert.equal(empty.json.data[operation.dataKey][0].name, instance)
        })

        it('refuses malformed identifiers wherever they stand', async () => {
          for (const call of [{ body: { name: 'șmth' } }, { query: `?name=${encodeURIComponent('șmth')}` }]) {
            assertRefused(await global(operation, call), /^Invalid name 'șmth':/)
          }
          assertRefused(await global(operation, { body: { uuid: '123' } }), /^Invalid UUID '123'$/)
          assertRefused(await local(operation, 'a--b'), /^Invalid name 'a--b':/)
        })

        it('does not take identifiers from query and body at once', async () => {
          assertRefused(
            await global(operation, { query: '?name=x', body: { name: 'y' } }),
            /cannot be given together/,
          )
        })

        it('takes the object from the path, by name in any case and by UUID', async () => {
          const { uuid } = await user.api.one('getInstances', { object: instance })
          const objects =
            operation.method === 'DELETE' ? [instance.toUpperCase()] : [instance.toUpperCase(), uuid]
          for (const object of objects) {
            const answer = await local(operation, object, { body: minimalBody(operation) })
            assert.equal(answer.json.data[operation.dataKey][0].uuid, uuid, answer.text)
          }
        })

        it('refuses identifiers and arrays in local scope', async () => {
          for (const body of [{ uuid: missing }, { name: instance }]) {
            assertRefused(await local(operation, instance, { body }), /the path already names the object/)
          }
          assertRefused(
            await local(operation, instance, { query: '?name=x' }),
            /the path already names the object/,
          )
          assertRefused(await local(operation, instance, { body: [{}] }), /expected 'object'/)
        })

        it('finds nothing for an unknown object in the path', async () => {
          const answer = await local(operation, missing, { body: minimalBody(operation) })
          assert.equal(answer.status, 200)
          assert.equal(answer.json.data[operation.dataKey][0].error, 8)
        })
      }

      if (operation.scope === Scope.Objects) {
        it('asks for an identifier where there is none', async () => {
          for (const body of [undefined, {}, [], [{}]]) {
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
        const answer = await api.send({ method: 'PATCH', path: operation.path, token: user.token })
        assert.equal(answer.status, 405)
        assert.equal(answer.json.errors[0].error, 2)
        assert.ok(String(answer.headers['allow']).split(', ').includes(operation.method))
      })
    })
  }
})
