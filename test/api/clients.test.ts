import { strict as assert } from 'node:assert'
import { startTestApi } from '../support/api-server.ts'
import type { RawAnswer, TestApi, TestUser } from '../support/api-server.ts'
import { resetFaults } from '../support/fake-control.ts'

/** The requests that existing clients send, byte for byte where it matters, and what they need of the answers. */
describe('a client in the field', () => {
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

  /** The SDK in Go announces JSON always, never says what it accepts, closes each connection, and takes 200 only. */
  async function goSdk(method: string, path: string, body?: unknown): Promise<RawAnswer> {
    const answer = await api.send({
      method,
      path,
      token: user.token,
      headers: {
        'content-type': 'application/json',
        connection: 'close',
        'user-agent': 'Go-http-client/1.1',
      },
      ...(body === undefined ? {} : { body }),
    })
    assert.equal(answer.status, 200, answer.text)
    const [key, ...others] = Object.keys(answer.json.data)
    assert.deepEqual(others, [])
    assert.ok(Array.isArray(answer.json.data[key!]))
    assertDecodes(answer.json.data[key!])
    return answer
  }

  it('deploys an image as the command line does', async () => {
    assert.ok((await goSdk('GET', '/v1/images/list')).json.data.images.length > 0)
    const created = await goSdk('POST', '/v1/instances', {
      image: 'hello:latest',
      args: ['/hello --port 8080'],
      memory_mb: 128,
      autostart: true,
      scale_to_zero: { policy: 'off' },
      vcpus: 1,
    })
    const [{ uuid, name }] = created.json.data.instances
    const seen = await goSdk('GET', '/v1/instances', [{ uuid }])
    const [instance] = seen.json.data.instances
    assert.equal(instance.state, 'running')
    assert.ok(instance.image.startsWith('hello@sha256:'))
    await goSdk('GET', '/v1/instances/wait', [{ uuid, state: 'running', timeout_ms: 10_000 }])
    await goSdk('PUT', '/v1/instances/stop', [{ name, force: false, drain_timeout_ms: 60 }])
    await goSdk('DELETE', '/v1/instances', [{ uuid }])
    const gone = await goSdk('GET', '/v1/instances', [{ uuid }])
    assert.equal(gone.json.status, 'error')
    assert.deepEqual(gone.json.data.instances[0], {
      status: 'error',
      uuid,
      message: `No instance with uuid '${uuid}'`,
      error: 8,
    })
  })

  it('names objects by arrays, one key of the two being empty', async () => {
    await goSdk('POST', '/v1/instances', { image: 'hello:latest', name: 'web', args: [''] })
    const answer = await goSdk('GET', '/v1/instances', [{ uuid: '', name: 'web' }])
    assert.equal(answer.json.data.instances[0].name, 'web')
    await goSdk('PUT', '/v1/instances/start', [{ name: 'web', wait_timeout_ms: 3_000 }])
    await goSdk('PUT', '/v1/instances/stop', [{ name: 'web', force: true }])
    await goSdk('PUT', '/v1/instances/stop', [{ name: 'web', force: false }])
  })

  it('tails a log in pages of 16383 bytes', async () => {
    const created = await goSdk('POST', '/v1/instances', { image: 'hello:latest', name: 'web' })
    const [{ uuid }] = created.json.data.instances
    const bytes = Buffer.from('x'.repeat(16_383))
    api.nodes.calls.length = 0
    api.nodes.logs.set(uuid, {
      availableStart: 0,
      availableEnd: 20_000,
      rangeStart: 3_617,
      rangeEnd: 20_000,
      outputBase64: bytes.toString('base64'),
    })
    const answer = await goSdk('GET', '/v1/instances/log', [{ name: 'web', offset: -16_383, limit: 16_383 }])
    assert.deepEqual(api.nodes.calls, ['log -16383 16383'])
    const [{ range, output, available }] = answer.json.data.instances
    assert.equal(range.end - range.start, Buffer.from(output, 'base64').length)
    assert.equal(available.end, 20_000)
  })

  it('looks images up by an array of tags', async () => {
    const found = await goSdk('GET', '/v1/images/list', [{ tag: 'hello:latest' }])
    assert.deepEqual(found.json.data.images[0].tags, ['hello:latest'])
    const none = await goSdk('GET', '/v1/images/list', [{ tag: 'nothing:latest' }])
    assert.deepEqual(none.json.data.images, [])
  })

  it('gets a 400 with a sentence where it sent a policy-less scale_to_zero', async () => {
    const answer = await api.send({
      method: 'POST',
      path: '/v1/instances',
      token: user.token,
      body: { image: 'hello:latest', scale_to_zero: { cooldown_time_ms: 1_000 } },
    })
    assert.equal(answer.status, 400)
    assert.match(answer.json.errors[0].message, /'scale_to_zero\.policy'/)
  })

  it('may write its token as the clients of that platform do', async () => {
    const [, secret] = Buffer.from(user.token, 'base64').toString().split(':')
    const token = Buffer.from(`robot$${user.name}.users.kraftcloud:${secret}`).toString('base64')
    assert.equal((await api.send({ path: '/v1/users/quotas', token })).status, 200)
  })

  /** The newer SDKs put everything into the query, lists by repetition, and page by the last UUID. */
  it('reads by repeated parameters and pages of 100', async () => {
    const created = await user.api.call('createInstances', {
      body: { image: 'hello', name: 'a', replicas: 2 },
    })
    const [a, b, c] = created.map((entry) => entry.uuid)
    const get = async (path: string) => (await api.send({ path, token: user.token })).json.data.instances
    const uuids = (entries: readonly { readonly uuid: string }[]) => entries.map((entry) => entry.uuid)
    assert.deepEqual(uuids(await get(`/v1/instances?uuid=${b}&uuid=${a}&details=true`)), [b, a])
    assert.deepEqual(uuids(await get('/v1/instances?details=true&count=100')), [a, b, c])
    assert.deepEqual(uuids(await get(`/v1/instances?count=2&from=${a}`)), [b, c])
    assert.deepEqual(uuids(await get(`/v1/instances/wait?uuid=${a}&state=stopped&timeout_ms=5`)), [a])
    assert.deepEqual(
      uuids(await get(`/v1/instances/log?uuid=${a}&uuid=${b}&offset=0&offset=-5&limit=10&limit=20`)),
      [a, b],
    )
  })

  /** What breaks the decoders in the field: negative or fractional numbers, other types, times without a zone. */
  function assertDecodes(entries: readonly Readonly<Record<string, unknown>>[]): void {
    for (const entry of entries) {
      if (entry['status'] === 'success') assert.ok(!('message' in entry))
      if (entry['status'] === 'error') assert.ok(Number.isInteger(entry['error']))
      for (const [key, value] of Object.entries(entry)) {
        if (typeof value === 'number') assert.ok(Number.isInteger(value) && value >= 0, `${key} ${value}`)
        if (key.endsWith('_at')) assert.match(String(value), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      }
      const scaleToZero = entry['scale_to_zero']
      if (scaleToZero !== undefined) {
        assert.partialDeepStrictEqual(scaleToZero, {
          policy: 'off',
          cooldown_time_ms: 1_000,
          stateful: false,
        })
      }
    }
  }
})
