import { strict as assert } from 'node:assert'
import { startTestApi, testMetroDomain } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { sendAsGoSdk } from '../../support/go-sdk.ts'

/**
 * The requests that existing clients send, byte for byte where that matters, and what they need in the
 * answers.
 */
describe('an existing client', () => {
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

  const goSdk = (method: string, path: string, body?: unknown) =>
    sendAsGoSdk(api, user, { method, path, ...(body === undefined ? {} : { body }) })

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

  it('names objects by arrays, in which one of the two keys is empty', async () => {
    await goSdk('POST', '/v1/instances', { image: 'hello:latest', name: 'web', args: [''] })
    const answer = await goSdk('GET', '/v1/instances', [{ uuid: '', name: 'web' }])
    assert.equal(answer.json.data.instances[0].name, 'web')
    await goSdk('PUT', '/v1/instances/start', [{ name: 'web', wait_timeout_ms: 3_000 }])
    await goSdk('PUT', '/v1/instances/stop', [{ name: 'web', force: true }])
    await goSdk('PUT', '/v1/instances/stop', [{ name: 'web', force: false }])
  })

  /**
   * This is the request of `instance create -p 443:8080`. It then reads the service that the answer names.
   */
  it('publishes a port as the command line does', async () => {
    const created = await goSdk('POST', '/v1/instances', {
      image: 'hello:latest',
      args: [''],
      memory_mb: 128,
      autostart: true,
      vcpus: 1,
      service_group: {
        services: [
          { port: 443, destination_port: 8080, handlers: ['http', 'tls'] },
          { port: 80, destination_port: 443, handlers: ['http', 'redirect'] },
        ],
      },
    })
    const [{ uuid, service_group: attached }] = created.json.data.instances
    assert.match(attached.domains[0].fqdn, /^[a-z]+-[a-z]+-[a-z0-9]{8}\.metro\.test$/)
    const [seen] = (await goSdk('GET', '/v1/instances', [{ uuid }])).json.data.instances
    assert.deepEqual([seen.state, seen.service_group], ['running', attached])
    const [service] = (await goSdk('GET', '/v1/services', [{ uuid: attached.uuid }])).json.data.service_groups
    assert.deepEqual(service.services, [
      { port: 443, destination_port: 8080, handlers: ['tls', 'http'] },
      { port: 80, destination_port: 443, handlers: ['http', 'redirect'] },
    ])
    assert.deepEqual([service.persistent, service.instances], [false, [{ uuid, name: seen.name }]])
  })

  it('asks for domains as the command line does: it adds a dot to what its user wrote, even to a final dot', async () => {
    const domains = [{ name: 'shop.example.com..' }, { name: 'www.example.com.' }, { name: 'sub' }]
    const services = [
      { port: 443, destination_port: 8080, handlers: ['http', 'tls'] },
      { port: 8081, destination_port: 8080, handlers: ['tls'] },
    ]
    const answer = await goSdk('POST', '/v1/services', { name: 'shop', services, domains })
    const [service] = answer.json.data.service_groups
    assert.deepEqual(
      service.domains.map((domain: { fqdn: string }) => domain.fqdn),
      ['shop.example.com', 'www.example.com', `sub.${testMetroDomain}`],
    )
    assert.match(service.domains[0].certificate.name, /^shop\.example\.com-[a-z0-9]{5}$/)
  })

  it('is told why a domain is invalid, in the words that it knows', async () => {
    const body = { domains: [{ name: `${'a'.repeat(64)}.example.com.` }] }
    const answer = await api.send({ method: 'POST', path: '/v1/services', token: user.token, body })
    assert.equal(answer.status, 400)
    assert.match(answer.json.message, /^Invalid DNS name/)
  })

  /** `tunnel` and `volume import` use the first domain of the answer without a check that there is one. */
  it('always finds a domain where it published a port', async () => {
    const created = await goSdk('POST', '/v1/instances', {
      image: 'hello:latest',
      args: ['8080:tcp'],
      memory_mb: 64,
      autostart: true,
      wait_timeout_ms: 3_000,
      features: ['delete-on-stop'],
      service_group: { services: [{ port: 8080, destination_port: 8080, handlers: ['tls'] }] },
    })
    assert.ok(created.json.data.instances[0].service_group.domains[0].fqdn)
  })

  /** `service rm --wait-empty` polls until the service has no instance. The only code that it knows is 8. */
  it('waits for a service to be empty and removes it', async () => {
    const service = { name: 'web', services: [{ port: 443, handlers: ['http', 'tls'] }] }
    await goSdk('POST', '/v1/services', service)
    await goSdk('POST', '/v1/instances', { image: 'hello:latest', name: 'i', service_group: { name: 'web' } })
    const attached = async () => {
      const answer = await goSdk('GET', '/v1/services', [{ name: 'web' }])
      return answer.json.data.service_groups[0].instances.length
    }
    assert.equal(await attached(), 1)
    const refused = await goSdk('DELETE', '/v1/services', [{ name: 'web' }])
    assert.partialDeepStrictEqual(refused.json.data.service_groups, [
      { status: 'error', name: 'web', error: 15 },
    ])
    await goSdk('DELETE', '/v1/instances', [{ name: 'i' }])
    assert.equal(await attached(), 0)
    await goSdk('DELETE', '/v1/services', [{ name: 'web' }])
    const gone = await goSdk('GET', '/v1/services', [{ name: 'web' }])
    assert.deepEqual(gone.json.data.service_groups, [
      { status: 'error', name: 'web', message: "No service group with name 'web'", error: 8 },
    ])
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

  it('gets a 400 with a sentence if it sends scale_to_zero without a policy', async () => {
    const answer = await api.send({
      method: 'POST',
      path: '/v1/instances',
      token: user.token,
      body: { image: 'hello:latest', scale_to_zero: { cooldown_time_ms: 1_000 } },
    })
    assert.equal(answer.status, 400)
    assert.match(answer.json.errors[0].message, /'scale_to_zero\.policy'/)
  })

  it('may send its token with the longer user name that older clients write', async () => {
    const [, secret] = Buffer.from(user.token, 'base64').toString().split(':')
    const token = Buffer.from(`robot$${user.name}.users.kraftcloud:${secret}`).toString('base64')
    assert.equal((await api.send({ path: '/v1/users/quotas', token })).status, 200)
  })

  /**
   * The newer SDKs send reads by the query. They repeat a parameter for a list, and page by the last UUID.
   */
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

  it('reads services by repeated parameters and pages of 100', async () => {
    const created = await user.api.call('createServices', {
      body: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
    })
    const [a, b, c] = created.map((entry) => entry.uuid)
    const get = async (path: string) => {
      const { json } = await api.send({ path, token: user.token })
      return json.data.service_groups.map((entry: { uuid: string }) => entry.uuid)
    }
    assert.deepEqual(await get('/v1/services?count=100'), [a, b, c])
    assert.deepEqual(await get(`/v1/services?details=true&count=2&from=${a}`), [b, c])
    assert.deepEqual(await get(`/v1/services?uuid=${b}&uuid=${a}&details=true`), [b, a])
    assert.deepEqual(await get('/v1/services?name=c,a'), [c, a])
    assert.deepEqual(await get('/v1/services/list?persistent=true&count=2'), [a, b])
  })
})
