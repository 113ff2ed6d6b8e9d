import { strict as assert } from 'node:assert'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { sendAsGoSdk } from '../../support/go-sdk.ts'

/** The requests about volumes that existing clients send, and what they need in the answers. */
describe('an existing client, about volumes', () => {
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

  const goSdk = async (method: string, path: string, body?: unknown) => {
    const call = { method, path, ...(body === undefined ? {} : { body }) }
    return (await sendAsGoSdk(api, user, call)).json.data
  }
  const get = async (identifier: object) => (await goSdk('GET', '/v1/volumes', [identifier])).volumes[0]

  /** These are the requests of `volume create`, `attach`, `get`, `detach` and `delete`. */
  it('leads a volume through its life as the command line does', async () => {
    const [{ uuid, status }] = (await goSdk('POST', '/v1/volumes', { name: 'data', size_mb: 64 })).volumes
    assert.equal(status, 'success')
    await goSdk('POST', '/v1/instances', { image: 'hello:latest', name: 'app', args: [''] })
    const at = { at: '/mnt/data', readonly: false, attach_to: { name: 'app' } }
    const [attached] = (await goSdk('PUT', '/v1/volumes/attach', [{ name: 'data', ...at }])).volumes
    assert.deepEqual(attached, { status: 'success', uuid, name: 'data' })
    await goSdk('PUT', '/v1/instances/start', [{ name: 'app' }])
    const [instance] = (await goSdk('GET', '/v1/instances', [{ name: 'app' }])).instances
    assert.deepEqual(instance.volumes, [{ uuid, name: 'data', at: '/mnt/data', readonly: false }])
    const holder = { uuid: instance.uuid, name: 'app' }
    assert.partialDeepStrictEqual(await get({ uuid }), {
      state: 'mounted',
      size_mb: 64,
      attached_to: [holder],
      mounted_by: [{ ...holder, readonly: false }],
      persistent: true,
    })
    const [refused] = (await goSdk('PUT', '/v1/volumes/detach', [{ uuid }])).volumes
    assert.partialDeepStrictEqual(refused, { status: 'error', uuid, error: 11 })
    await goSdk('PUT', '/v1/instances/stop', [{ name: 'app', force: false }])
    const from = { from: { uuid: instance.uuid } }
    const [detached] = (await goSdk('PUT', '/v1/volumes/detach', [{ name: 'data', ...from }])).volumes
    assert.deepEqual(detached, { status: 'success', uuid, name: 'data' })
    await goSdk('DELETE', '/v1/volumes', [{ name: 'data' }])
    assert.deepEqual(await get({ name: 'data' }), {
      status: 'error',
      name: 'data',
      message: "No volume with name 'data'",
      error: 8,
    })
  })

  it('uses a volume with the request after the one that created it', async () => {
    await goSdk('POST', '/v1/volumes', { size_mb: 64, name: 'data' })
    const volumes = [{ uuid: '', name: 'data', at: '/data', readonly: true }]
    const created = await goSdk('POST', '/v1/instances', { image: 'hello:latest', autostart: true, volumes })
    assert.partialDeepStrictEqual(created.instances, [{ status: 'success' }])
  })

  /** `volume import` leaves `readonly` out, and uses the first domain of the answer. */
  it('imports into a volume by an instance that deletes itself', async () => {
    const [{ uuid }] = (await goSdk('POST', '/v1/volumes', { size_mb: 64 })).volumes
    const [created] = (
      await goSdk('POST', '/v1/instances', {
        image: 'hello:latest',
        memory_mb: 128,
        args: ['-p', '42069'],
        service_group: { services: [{ port: 42_069, destination_port: 42_069, handlers: ['tls'] }] },
        volumes: [{ uuid, at: '/mnt' }],
        autostart: true,
        wait_timeout_ms: 3_000,
        features: ['delete-on-stop'],
      })
    ).instances
    assert.ok(created.service_group.domains[0].fqdn)
    assert.equal((await get({ uuid })).state, 'mounted')
    await goSdk('DELETE', '/v1/instances', [{ uuid: created.uuid }])
    assert.equal((await get({ uuid })).state, 'available')
  })

  it('lists all volumes by a plain status', async () => {
    assert.deepEqual((await goSdk('GET', '/v1/volumes')).volumes, [])
    await goSdk('POST', '/v1/volumes', { size_mb: 64 })
    const [volume] = (await goSdk('GET', '/v1/volumes')).volumes
    // An entry with a `message` makes the command line show an error.
    assert.deepEqual(['message' in volume, 'status' in volume, volume.state], [false, false, 'available'])
    const { used } = (await goSdk('GET', '/v1/users/quotas')).quotas[0]
    assert.deepEqual([used.volumes, used.total_volume_mb], [1, 64])
  })

  /**
   * The newer SDKs name the volumes of a read in the query. They name the volumes of a change in an array in
   * the body, in the path or in the query.
   */
  it('is read, attached and detached as the SDK in JavaScript does it', async () => {
    const send = async (method: string, path: string, body?: unknown) => {
      const headers = { accept: 'application/json' }
      const answer = await api.send({
        method,
        path,
        token: user.token,
        headers,
        ...(body === undefined ? {} : { body }),
      })
      assert.equal(answer.status, 200, answer.text)
      return answer.json.data.volumes as { uuid: string; status: string; state: string }[]
    }
    const uuids: string[] = []
    for (const name of ['a', 'b', 'c']) {
      uuids.push((await send('POST', '/v1/volumes', { name, size_mb: 8 }))[0]!.uuid)
    }
    const [a, b, c] = uuids
    const read = async (query: string) =>
      (await send('GET', `/v1/volumes${query}`)).map((volume) => volume.uuid)
    assert.deepEqual(await read('?count=100'), uuids)
    assert.deepEqual(await read(`?details=true&count=2&from=${a}`), [b, c])
    assert.deepEqual(await read(`?uuid=${b}&uuid=${a}&details=true`), [b, a])
    assert.deepEqual(await read('?name=c,a'), [c, a])
    assert.deepEqual(
      (await send('GET', '/v1/volumes/list?state=available&persistent=true&count=2')).map(({ uuid }) => uuid),
      [a, b],
    )
    await user.api.one('createInstances', { body: { image: 'hello', name: 'web' } })
    await send('PUT', '/v1/volumes/attach', [{ name: 'a', attach_to: { name: 'web' }, at: '/data' }])
    const [seen] = await send('GET', '/v1/volumes?name=a&details=true')
    assert.equal(seen?.state, 'idle')
    await send('PUT', '/v1/volumes/detach', [{ name: 'a' }])
    await send('PUT', `/v1/volumes/${a}/attach`, { attach_to: { name: 'web' }, at: '/data', readonly: true })
    await send('PUT', `/v1/volumes/${a}/detach`, {})
    await send('PUT', `/v1/volumes/${a}/attach`, { attach_to: { name: 'web' }, at: '/data' })
    await send('PUT', `/v1/volumes/detach?uuid=${a},${b}`)
    const [gone] = await send('DELETE', `/v1/volumes/${a}`)
    assert.equal(gone?.status, 'success')
    await send('DELETE', `/v1/volumes?name=b&name=c`)
    assert.deepEqual(await read('?count=100'), [])
  })
})
