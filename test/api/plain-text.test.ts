import { strict as assert } from 'node:assert'
import type { TObject } from 'typebox'
import { identifiersOf } from '../../src/contract/operation.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { operations } from '../../src/contract/operations.ts'
import { globalBody, namesObjects } from '../../src/contract/request/body.ts'
import { querySchema } from '../../src/contract/request/query.ts'
import { startTestApi } from '../support/api-server.ts'
import type { TestApi, TestUser } from '../support/api-server.ts'

/** The part of JSON Schema that is needed to find all texts in a schema. */
interface Node {
  readonly type?: string
  readonly anyOf?: readonly Node[]
  readonly properties?: Readonly<Record<string, Node>>
  readonly patternProperties?: object
  readonly required?: readonly string[]
  readonly items?: Node
  readonly enum?: readonly unknown[]
}

const table = Object.values(operations) as readonly Operation[]

/**
 * For every place of a schema where a text can stand, a value that has `text` there, and beside it only what
 * is required.
 */
function withText(node: Node, text: string): readonly unknown[] {
  if (node.anyOf !== undefined) return node.anyOf.flatMap((branch) => withText(branch, text))
  if (node.type === 'string') return [text]
  if (node.items !== undefined) return withText(node.items, text).map((item) => [item])
  if (node.patternProperties !== undefined) return [{ A: text }, { [text]: 'A' }]
  const { properties = {}, required = [] } = node
  return Object.entries(properties).flatMap(([key, property]) => {
    const others = required.filter((name) => name !== key).map((name) => [name, least(properties[name]!)])
    return withText(property, text).map((value) => ({ ...Object.fromEntries(others), [key]: value }))
  })
}

/** The smallest value that fits the schema. */
function least(node: Node): unknown {
  if (node.enum !== undefined) return node.enum[0]
  if (node.type === 'integer') return 8
  if (node.type === 'array') return []
  if (node.type !== 'object') return 'a'
  return Object.fromEntries((node.required ?? []).map((name) => [name, least(node.properties![name]!)]))
}

function queryNames(operation: Operation): readonly string[] {
  const ofObjects = operation.inQuery ? Object.keys(operation.body.properties) : []
  const identifiers = namesObjects(operation) ? identifiersOf(operation) : []
  return [...identifiers, ...ofObjects, ...Object.keys(querySchema(operation).properties)]
}

describe('NUL and halves of surrogate pairs are refused before they reach PostgreSQL', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
    user = await api.addUser()
  })
  after(() => api.close())

  const send = (operation: Operation, path: string, body?: unknown) =>
    api.send({
      method: operation.method,
      path: path.replace('{owner}', 'web'),
      token: user.token,
      ...(body === undefined ? {} : { body }),
    })

  for (const operation of table) {
    it(`in every text of ${operation.id}, in bodies, query and path`, async () => {
      const schemas = [globalBody(operation), ...(operation.idsForm === undefined ? [] : [operation.idsForm])]
      for (const text of ['a\0b', '\ud800']) {
        for (const body of schemas.flatMap((schema: TObject) => withText(schema as Node, text))) {
          const answer = await send(operation, operation.path, body)
          assert.equal(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`)
          assert.ok(!/[\0\p{Cs}]/u.test(answer.json.message), answer.text)
        }
      }
      const needsBody = operation.changes === true || operation.body.required !== undefined
      const body = needsBody ? least(operation.body) : undefined
      for (const name of queryNames(operation)) {
        const others = namesObjects(operation) && name !== 'uuid' && name !== 'name' ? 'name=x&' : ''
        const answer = await send(operation, `${operation.path}?${others}${name}=a%00b`, body)
        assert.equal(answer.status, 400, `${name}: ${answer.text}`)
        assert.match(answer.json.message, new RegExp(String.raw`'${name}'|'a\\u0000b'`))
      }
      for (const path of [operation.path, operation.localPath ?? '']) {
        for (const part of ['{object}', '{owner}'].filter((each) => path.includes(each))) {
          const named = namesObjects(operation) && !path.includes('{object}') ? '?name=x' : ''
          const asked = path.replace(part, 'a%00b').replace('{object}', 'x')
          const answer = await send(operation, asked + named, body)
          assert.equal(answer.status, 400, `${path}: ${answer.text}`)
          assert.match(answer.json.message, /^Invalid (name|UUID) 'a\\u0000b'/)
        }
      }
    })
  }

  it('in a token', async () => {
    const secret = `${'\0'.repeat(20)}rest`
    const token = Buffer.from(`${user.name}:${secret}`).toString('base64')
    assert.equal((await api.send({ path: '/v1/instances', token })).status, 401)
  })

  it('in the id of a host, whatever it asks for', async () => {
    const headers = { authorization: 'Bearer anything' }
    for (const path of ['instances', 'names', 'instances/a%00b/launch']) {
      assert.equal((await api.send({ path: `/internal/nodes/a%00b/${path}`, headers })).status, 401, path)
    }
    const joining = { authorization: 'Bearer the-join-token-of-the-tests' }
    const beat = (path: string, version: string) =>
      api.send({
        method: 'PUT',
        path: `/internal/nodes/${path}`,
        headers: joining,
        body: {
          agentUrl: 'http://127.0.0.1:7171',
          agentSecret: 'x'.repeat(32),
          accelerator: 'tcg',
          memoryMb: 1,
          version,
        },
      })
    assert.equal((await beat('a%00b', '1')).status, 400)
    assert.equal((await beat('third', '1\0')).status, 400)
  })
})
