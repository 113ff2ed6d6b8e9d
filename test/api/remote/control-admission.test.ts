import { strict as assert } from 'node:assert'
import {
  gatewayCountsPath,
  partsBesideMetricsPath,
  partsBesidePath,
  workerKeys,
  workerRenewalPath,
} from '../../../src/domain/host/control-role.ts'
import { HostRole } from '../../../src/domain/host/role.ts'
import { PlatformPart } from '../../../src/domain/platform-part.ts'
import type { PartIdentity } from '../../../src/trust/part-identity.ts'
import { besideId } from '../../../src/trust/asked-identity.ts'
import { identityOf } from '../../support/part-identities.ts'
import { exchange, requestText, startRemoteApi, testControlSettings } from '../../support/remote-api.ts'
import type { RemoteApi } from '../../support/remote-api.ts'

const service = '00000000-0000-4000-8000-000000000001'

describe('machines that joined with an API or a worker', () => {
  let remote: RemoteApi
  let withApi: PartIdentity
  let withWorker: PartIdentity
  let plain: PartIdentity
  before(async () => {
    remote = await startRemoteApi()
    withApi = await remote.joined('h2', [HostRole.Api, HostRole.Worker])
    withWorker = await remote.joined('h3', [HostRole.Worker])
    plain = await remote.joined('h4')
  })
  after(() => remote.close())

  const named = async (part: PlatformPart, id: string, { key }: Partial<PartIdentity> = {}) =>
    await identityOf(remote.authority, { part, id }, { ...(key && { key }) })

  async function ask(line: string, identity: PartIdentity, body?: object) {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = text === undefined ? [] : ['Content-Type: application/json']
    const asked = requestText(line, { headers, ...(text !== undefined && { body: text }) })
    const answer = await exchange(await remote.connect(identity), asked)
    const json = answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)
    return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]), json }
  }

  it('are told what their parts need, and no other machine is', async () => {
    const toApi = await ask('GET /internal/nodes/h2/control-plane', withApi)
    assert.deepEqual([toApi.status, JSON.parse(toApi.json)], [200, testControlSettings])
    const toWorker = await ask('GET /internal/nodes/h3/control-plane', withWorker)
    const told = JSON.parse(toWorker.json) as typeof testControlSettings
    assert.deepEqual(told.settings, testControlSettings.settings)
    assert.deepEqual(Object.keys(told.keys), [...workerKeys])
    assert.equal((await ask('GET /internal/nodes/h4/control-plane', plain)).status, 403)
    for (const identity of [withWorker, plain])
      assert.equal((await ask('GET /internal/nodes/h2/control-plane', identity)).status, 403)
    const worker = await remote.partOf('h3', HostRole.Worker)
    assert.equal((await ask('GET /internal/nodes/h3/control-plane', worker)).status, 403)
  })

  it('are told where the processes of the API are, as every host is', async () => {
    for (const [id, identity] of Object.entries({ h2: withApi, h4: plain })) {
      const { status, json } = await ask(`GET /internal/nodes/${id}/apis`, identity)
      assert.deepEqual([status, JSON.parse(json)], [200, { addresses: ['192.0.2.1:7075', '192.0.2.2:7075'] }])
    }
    assert.equal((await ask('GET /internal/nodes/h2/apis', plain)).status, 403)
  })

  it('renew the certificate of their worker, and reach nothing else by it', async () => {
    const worker = await remote.partOf('h3', HostRole.Worker)
    const { status, json } = await ask(`POST ${workerRenewalPath}`, worker)
    assert.equal(status, 200)
    assert.match(json, /BEGIN CERTIFICATE/)
    const others = [
      'GET /internal/gateway/routes',
      'GET /internal/nodes/h3/instances',
      'GET /v1/hosts',
      'GET /v2/',
    ]
    for (const line of others) assert.equal((await ask(line, worker)).status, 403, line)
    const stolen = await named(PlatformPart.Worker, 'h3', withWorker)
    assert.equal((await ask(`POST ${workerRenewalPath}`, stolen)).status, 401, 'with the key of its agent')
    const pretender = await remote.partOf('h4', HostRole.Worker)
    assert.equal((await ask(`POST ${workerRenewalPath}`, pretender)).status, 401)
  })

  it('ask what gateways beside an API have counted, and no other part does', async () => {
    const line = `POST ${gatewayCountsPath}`
    const body = { services: [service] }
    const api = await named(PlatformPart.Api, besideId())
    const worker = await remote.partOf('h3', HostRole.Worker)
    for (const identity of [api, worker]) {
      const { status, json } = await ask(line, identity, body)
      assert.deepEqual([status, JSON.parse(json)], [200, { gateways: [] }])
    }
    assert.equal((await ask(line, api, { services: ['no uuid'] })).status, 400)
    assert.equal((await ask('GET /internal/gateway/routes', api)).status, 403)
    assert.equal((await ask(`GET ${partsBesidePath}`, worker)).status, 403)
    assert.deepEqual(JSON.parse((await ask(`GET ${partsBesidePath}`, api)).json), { parts: [] })
    const unknown = await ask(`GET ${partsBesideMetricsPath}?part=worker&name=a`, api)
    assert.deepEqual([unknown.status, /worker/.test(unknown.json)], [404, true])
    assert.equal((await ask('GET /metrics', api)).status, 200)
    for (const identity of [plain, await remote.partOf('h3', HostRole.Gateway)])
      assert.notEqual((await ask(line, identity, body)).status, 200)
    assert.equal((await ask(line, await named(PlatformPart.Api, 'h4', plain), body)).status, 401)
    const response = await fetch(new URL(gatewayCountsPath, remote.api.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    assert.equal(response.status, 404, 'it is nothing of the public')
  })
})
