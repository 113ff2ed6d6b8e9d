import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApiFailure, FailureCode } from '../../../src/client/api-failure.ts'
import { entriesOf, isFailed, one, succeeded } from '../../../src/client/answers.ts'
import { createApiClient } from '../../../src/client/client.ts'
import type { ApiClient } from '../../../src/client/client.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'

describe('the client of the API', () => {
  let api: TestApi
  let user: TestUser
  let client: ApiClient
  before(async () => {
    api = await startTestApi()
    user = await api.addUser()
    client = createApiClient({ address: api.url, token: user.token })
  })
  after(() => api.close())

  it('returns the one entry of an answer, and all entries of a listing', async () => {
    const made = one(await client.POST('/v1/volumes', { body: { name: 'notes', size_mb: 64 } }))
    assert.equal(made.name, 'notes')
    const [volume] = succeeded(await client.GET('/v1/volumes'))
    assert.deepEqual([volume!.uuid, volume!.size_mb], [made.uuid, 64])
  })

  it('sends lists in the query, one value after the other', async () => {
    for (const name of ['a', 'b', 'c']) await client.POST('/v1/volumes', { body: { name, size_mb: 64 } })
    const found = succeeded(await client.GET('/v1/volumes', { params: { query: { name: ['a', 'c'] } } }))
    assert.deepEqual(
      found.map(({ name }) => name),
      ['a', 'c'],
    )
  })

  it('takes an address with or without /v1 and slashes at its end', async () => {
    for (const address of [`${api.url}/v1`, `${api.url}/`, `${api.url}/v1/`]) {
      await createApiClient({ address, token: user.token }).GET('/v1/instances')
    }
  })

  it('throws the failure of one object with its name and code, unless all entries are asked for', async () => {
    const answer = await client.GET('/v1/volumes', { params: { query: { name: ['notes', 'nothing'] } } })
    assert.throws(
      () => succeeded(answer),
      (error) =>
        error instanceof ApiFailure &&
        error.facts.code === FailureCode.NotFound &&
        error.facts.object === 'nothing',
    )
    assert.deepEqual(entriesOf(answer).map(isFailed), [false, true])
  })

  it('throws the failure of a whole request with its status, code and request id', async () => {
    const refused = await failureOf(client.POST('/v1/volumes', { body: { name: 'big', size_mb: -1 } }))
    assert.match(refused.message, /size_mb/)
    assert.equal(refused.facts.httpStatus, 400)
    assert.equal(refused.facts.code, 7)
    assert.ok(refused.facts.requestId)
  })

  it('throws a failure that does not contain the token if the token is wrong', async () => {
    const stranger = createApiClient({ address: api.url, token: 'not-a-token' })
    const refused = await failureOf(stranger.GET('/v1/instances'))
    assert.equal(refused.facts.httpStatus, 401)
    assert.ok(!refused.message.includes('not-a-token'))
  })

  it('says which address does not answer, and why', async () => {
    const nowhere = createApiClient({ address: 'http://127.0.0.1:9', token: 'x' })
    const refused = await failureOf(nowhere.GET('/v1/instances'))
    assert.match(refused.message, /^http:\/\/127\.0\.0\.1:9 does not answer: /)
    assert.equal(refused.facts.httpStatus, undefined)
  })

  it('does not take another web server for the API', async () => {
    const server = createServer((_, response) => void response.end('<html>hello</html>')).listen(0)
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const refused = await failureOf(createApiClient({ address, token: 'x' }).GET('/v1/instances'))
    server.close()
    assert.match(refused.message, /does not answer like the API/)
  })
})

async function failureOf(call: Promise<unknown>): Promise<ApiFailure> {
  const error: unknown = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(error instanceof ApiFailure, String(error))
  return error
}
