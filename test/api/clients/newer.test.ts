import { strict as assert } from 'node:assert'
import { startTestApi } from '../../support/api-server.ts'
import type { RawAnswer, TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'

/** The requests of the SDKs in Python (0.3) and JavaScript (0.2), as they were seen on the wire. */
describe('a newer client', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    resetFaults(api.control)
    user = await api.addUser()
  })

  /** Both SDKs always send `accept`, and `content-type` only with a body. */
  async function send(method: string, path: string, body?: unknown): Promise<RawAnswer> {
    const headers = {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    return api.send({ method, path, token: user.token, headers, ...(body === undefined ? {} : { body }) })
  }

  async function entryOf(answer: Promise<RawAnswer>) {
    const { status, text, json } = await answer
    assert.equal(status, 200, text)
    return json.data.instances[0]
  }

  it('waits in seconds in the body, as in Python', async () => {
    const spec = { name: 'py', image: 'hello:latest', memory_mb: 128, autostart: true, timeout_s: 10 }
    const created = await entryOf(send('POST', '/v1/instances', spec))
    assert.equal(created.state, 'running')
    const waiting = send('GET', '/v1/instances/wait', [{ name: 'py', state: 'running', timeout_s: 30 }])
    assert.equal((await entryOf(waiting)).state, 'running')
    await send('PUT', '/v1/instances/stop', [{ name: 'py' }])
    const started = await entryOf(send('PUT', '/v1/instances/start', [{ name: 'py', timeout_s: -1 }]))
    assert.equal(started.state, 'running')
    const deleted = await entryOf(send('DELETE', '/v1/instances', [{ name: 'py', timeout_s: 10 }]))
    assert.equal(deleted.previous_state, 'running')
  })

  it('waits in seconds in the query, as in JavaScript', async () => {
    await send('POST', '/v1/instances', {
      image: 'hello:latest',
      name: 'js',
      memory_mb: 128,
      autostart: true,
    })
    const waiting = send('GET', '/v1/instances/wait?name=js&state=running&timeout_s=10')
    assert.equal((await entryOf(waiting)).state, 'running')
  })

  it('is served by its seconds if a request has milliseconds too', async () => {
    await send('POST', '/v1/instances', { image: 'hello:latest', name: 'both' })
    const item = { name: 'both', state: 'running', timeout_s: 0, timeout_ms: 60_000 }
    assert.equal((await entryOf(send('GET', '/v1/instances/wait', [item]))).error, 12)
  })

  it('knows a timeout by the message of the envelope', async () => {
    await send('POST', '/v1/instances', { image: 'hello:latest', name: 'slow' })
    const item = { name: 'slow', state: 'running', timeout_s: 0 }
    const { json } = await send('GET', '/v1/instances/wait', [item])
    assert.equal(json.status, 'error')
    assert.match(json.message.toLowerCase(), /timed out/)
    assert.partialDeepStrictEqual(json.data.instances[0], { name: 'slow', state: 'stopped' })
  })

  it('may ask for a wait of any length, which is then as long as possible', async () => {
    await send('POST', '/v1/instances', { image: 'hello:latest', name: 'long' })
    for (const timeout of [{ timeout_s: 3_600 }, { timeout_ms: 2 ** 63 }]) {
      const waiting = send('GET', '/v1/instances/wait', [{ name: 'long', state: 'stopped', ...timeout }])
      assert.equal((await entryOf(waiting)).state, 'stopped')
    }
    const { status, json } = await send('GET', '/v1/instances/wait', [{ name: 'long', timeout_s: -2 }])
    assert.equal(status, 400)
    assert.equal(json.message, "Value of 'timeout_s' must be at least -1")
  })

  it('shows the message of a refused request, not its HTTP status', async () => {
    const { status, json } = await send('GET', '/v1/instances?name=-bad-&details=true')
    assert.equal(status, 400)
    assert.match(json.message, /^Invalid name '-bad-'/)
    const missing = await send('GET', '/v1/metros?count=100')
    assert.equal(missing.json.message, "No API endpoint '/v1/metros'")
    const history = await send('GET', '/v1/instances/history?name=x')
    assert.match(history.json.message, /^'GET \/v1\/instances\/history' is not supported here: /)
  })
})
