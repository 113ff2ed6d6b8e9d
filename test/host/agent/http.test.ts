import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HostFailure } from '../../../src/domain/instance/host-work.ts'
import type { InstanceCheck } from '../../../src/domain/rollout/check.ts'
import { noUsage } from '../../../src/domain/instance/usage.ts'
import { createAgentServer } from '../../../src/host/agent/agent-http.ts'
import { ApiClient, ApiError } from '../../../src/host/agent/api-client.ts'
import { LeasePhase } from '../../../src/domain/standby/host-lease-phase.ts'
import { HostStartError } from '../../../src/host/instance/host-start-error.ts'

const uuid = '00000000-0000-4000-8000-000000000001'
const otherUuid = '00000000-0000-4000-8000-000000000002'
const noLoad = { cpuTimeMs: 0, inFlight: 0, handledPerSecond: 0 }
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
}

const idleHostLease = {
  phase: LeasePhase.Running,
  boot: 3,
  awake: true,
  leases: 0,
  connections: 0,
  requests: 0,
  queued: 0,
  disabled: false,
  idleSinceMs: 1_000,
}

const { connections: _none, requests: _any, queued: _more, ...used } = noUsage
const step5m = { ...used, atMs: 300_000, seenMs: 5_000, wakes: 1, inFlightMs: 0 }

describe("the agent's server", () => {
  let server: Server
  let url: string
  let notReady: string | undefined
  const checked: InstanceCheck[] = []
  before(async () => {
    server = createAgentServer({
      agentSecret: 'the-secret',
      log: silent,
      upgrade: (_, socket) => socket.destroy(),
      answers: {
        log: async (_, window) => {
          if (window.offset === 13) throw new Error('disk on fire')
          return await Promise.resolve({
            availableStart: 0,
            availableEnd: 4,
            rangeStart: window.offset,
            rangeEnd: window.limit,
            outputBase64: '',
          })
        },
        history: async (_, step) => await Promise.resolve(step === '5m' ? [step5m] : []),
        serviceHistory: async (_, step) => await Promise.resolve(step === '5s' ? [step5m] : []),
        usage: async (uuids) =>
          await Promise.resolve(Object.fromEntries(uuids.map((each) => [each, noUsage]))),
        loads: async (uuids) =>
          await Promise.resolve({
            atMs: 5,
            loads: Object.fromEntries(uuids.map((each) => [each, noLoad])),
          }),
        awake: (uuids) => Object.fromEntries(uuids.map((each) => [each, { boot: 2, state: 'running' }])),
        begin: async (each) => await Promise.resolve(each === uuid),
        check: async (each, check) => {
          checked.push(check)
          return await Promise.resolve(each === uuid ? { ok: false, why: 'as asked' } : undefined)
        },
        hostLease: (each) => (each === uuid ? idleHostLease : undefined),
        notReady: () => notReady,
        metrics: async () => await Promise.resolve('a_metric 1\n'),
      },
    })
    url = await listen(server)
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })

  const ask = async (path: string, options: RequestInit & { secret?: string } = {}): Promise<Response> =>
    await fetch(url + path, {
      ...options,
      headers: { authorization: `Bearer ${options.secret ?? 'the-secret'}` },
    })

  it('gives the log window that is asked for', async () => {
    const response = await ask(`/instances/${uuid}/log?offset=-4096&limit=16383`)
    assert.equal(response.status, 200)
    const window = (await response.json()) as { rangeStart: number; rangeEnd: number }
    assert.deepEqual([window.rangeStart, window.rangeEnd], [-4096, 16383])
  })

  it('gives loads with the time at which they were read', async () => {
    const response = await ask('/loads', { method: 'POST', body: JSON.stringify({ instances: [uuid] }) })
    assert.deepEqual(await response.json(), { atMs: 5, loads: { [uuid]: noLoad } })
    assert.equal((await ask('/loads', { method: 'POST', body: '{}' })).status, 400)
    assert.equal((await ask('/loads', { method: 'POST', secret: 'another' })).status, 401)
  })

  it('gives what is awake', async () => {
    const response = await ask('/awake', { method: 'POST', body: JSON.stringify({ instances: [uuid] }) })
    assert.deepEqual(await response.json(), { awake: { [uuid]: { boot: 2, state: 'running' } } })
    assert.equal((await ask('/awake', { method: 'POST', secret: 'another' })).status, 401)
  })

  it('begins the first boot of an instance for the API alone', async () => {
    const path = (each: string) => `/instances/${each}/begin`
    assert.deepEqual(await (await ask(path(uuid), { method: 'POST' })).json(), { up: true })
    assert.deepEqual(await (await ask(path(otherUuid), { method: 'POST' })).json(), { up: false })
    assert.equal((await ask(path(uuid))).status, 404)
    assert.equal((await ask(path(uuid), { method: 'POST', secret: 'another' })).status, 401)
  })

  it('checks one instance for the API alone, and says where it makes too many checks', async () => {
    const path = (each: string) => `/instances/${each}/check`
    const check = { port: 8080, path: '/health?deep', status: 204, timeoutMs: 2_000 }
    const body = JSON.stringify({ ...check, host: '127.0.0.1' })
    const answer = await ask(path(uuid), { method: 'POST', body })
    assert.deepEqual([answer.status, await answer.json()], [200, { ok: false, why: 'as asked' }])
    assert.deepEqual(checked, [check])
    assert.equal((await ask(path(otherUuid), { method: 'POST', body })).status, 503)
    assert.equal((await ask(path(uuid), { method: 'POST', body, secret: 'another' })).status, 401)
    assert.equal((await ask(path(uuid))).status, 404)
    const wrong = await ask(path(uuid), { method: 'POST', body: '{"port":70000,"timeoutMs":2000}' })
    const message = "'port' must be a whole number from 1 to 65535, but is 70000"
    assert.deepEqual([wrong.status, await wrong.json()], [400, { message }])
    assert.equal(checked.length, 2)
  })

  it('gives the history of usage by the length of its steps, and refuses other lengths', async () => {
    const path = `/instances/${uuid}/usage?step=`
    assert.deepEqual(await (await ask(`${path}5m`)).json(), { steps: [step5m] })
    assert.deepEqual(await (await ask(`${path}5s`)).json(), { steps: [] })
    for (const step of ['', '6s', 'toString']) assert.equal((await ask(path + step)).status, 400, step)
  })

  it('gives the history of usage of a service', async () => {
    const path = `/services/${otherUuid}/usage?step=`
    assert.deepEqual(await (await ask(`${path}5s`)).json(), { steps: [step5m] })
    assert.equal((await ask(`${path}1h`)).status, 400)
    assert.equal((await ask(`/services/other/usage?step=5s`)).status, 404)
    assert.equal((await ask(`${path}5s`, { secret: 'another' })).status, 401)
  })

  it('gives usage by instance', async () => {
    const response = await ask('/usage', { method: 'POST', body: JSON.stringify({ instances: [uuid] }) })
    assert.deepEqual(await response.json(), { usage: { [uuid]: noUsage } })
  })

  it('says what keeps an instance awake, and answers 404 for an unknown instance', async () => {
    assert.deepEqual(await (await ask(`/instances/${uuid}/host-lease`)).json(), idleHostLease)
    assert.equal((await ask(`/instances/${otherUuid}/host-lease`)).status, 404)
  })

  it('gives nothing of instances without its secret', async () => {
    for (const secret of ['', 'the-secre', 'the-secret2', 'other'])
      for (const path of [
        `/instances/${uuid}/log?offset=0&limit=1`,
        `/instances/${uuid}/host-lease`,
        '/usage',
        '/nothing',
      ])
        assert.equal((await ask(path, { secret })).status, 401)
  })

  it('tells health and metrics to anyone, and readiness as it is', async () => {
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
    assert.equal(await (await fetch(`${url}/metrics`)).text(), 'a_metric 1\n')
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
    notReady = 'Temporal can not be reached'
    const response = await fetch(`${url}/readyz`)
    notReady = undefined
    assert.equal(response.status, 503)
    assert.match(await response.text(), /Temporal/)
  })

  it('refuses what is malformed with the value that was wrong', async () => {
    for (const query of ['', '?offset=0', '?offset=1.5&limit=1', '?offset=0&limit=-1', '?offset=x&limit=1'])
      assert.equal((await ask(`/instances/${uuid}/log${query}`)).status, 400, query)
    for (const body of ['', '{', '[]', '{"instances":[1]}'])
      assert.equal((await ask('/usage', { method: 'POST', body })).status, 400, body)
    const tooLong = await ask('/usage', { method: 'POST', body: 'x'.repeat(4 * 1024 * 1024) }).catch(
      () => undefined,
    )
    assert.ok(tooLong === undefined || tooLong.status === 413)
    assert.equal((await ask('/instances/x/log?offset=0&limit=1')).status, 404)
  })

  it('an internal failure is a 500 without any details', async () => {
    const response = await ask(`/instances/${uuid}/log?offset=13&limit=1`)
    assert.equal(response.status, 500)
    assert.doesNotMatch(await response.text(), /fire/)
  })
})

describe("the agent's client of the API", () => {
  let api: Server
  let client: ApiClient
  const requests: { line: string; authorization: string | undefined }[] = []
  let answers: { status: number; body?: object }[] = []
  before(async () => {
    api = createServer((request: IncomingMessage, response) => {
      requests.push({
        line: `${String(request.method)} ${String(request.url)}`,
        authorization: request.headers.authorization,
      })
      const { status, body } = answers.shift() ?? { status: 200, body: {} }
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}))
    })
    client = new ApiClient({
      apiUrl: await listen(api),
      nodeId: 'local',
      joinToken: 'join-secret',
      agentSecret: 'own-secret',
    })
  })
  beforeEach(() => {
    requests.length = 0
    answers = []
  })
  after(async () => {
    await client.close()
    api.close()
  })

  it('asks as its node, with the agent’s secret', async () => {
    answers = [
      { status: 200, body: { instances: [{ uuid, state: 'running' }] } },
      { status: 200, body: { token: 'pull' } },
      { status: 200, body: { uuid } },
      { status: 200, body: { place: 'elsewhere' } },
    ]
    assert.deepEqual(await client.instances(), { instances: [{ uuid, state: 'running' }] })
    await client.registryToken('a/b')
    await client.launchSpec(uuid, new AbortController().signal)
    assert.equal(await client.placeOfVolume(uuid), 'elsewhere')
    const authorization = 'Bearer own-secret'
    assert.deepEqual(requests, [
      { line: 'GET /internal/nodes/local/instances', authorization },
      { line: 'POST /internal/nodes/local/registry-token', authorization },
      { line: `GET /internal/nodes/local/instances/${uuid}/launch`, authorization },
      { line: `GET /internal/nodes/local/volumes/${uuid}`, authorization },
    ])
  })

  it('sends the join token only with its heartbeat', async () => {
    answers = [{ status: 200, body: { nodeId: 'local', subnet: '10.64.0.0/16' } }]
    await client.heartbeat({
      agentUrl: 'http://127.0.0.1:1',
      agentSecret: 'own-secret',
      accelerator: 'fake',
      memoryMb: 1,
      volumeMb: 2,
      imageBytes: {},
      occupiedSubnets: [],
      version: '',
    })
    assert.deepEqual(requests, [{ line: 'PUT /internal/nodes/local', authorization: 'Bearer join-secret' }])
  })

  it('an answer without a list of instances is an error, not an empty list', async () => {
    answers = [{ status: 200, body: {} }]
    await assert.rejects(client.instances(), ApiError)
  })

  it('an answer without a known place of a volume is an error, as is that of an API that tells none', async () => {
    answers = [{ status: 200, body: { place: 'over there' } }, { status: 404 }]
    for (const _ of answers) await assert.rejects(client.placeOfVolume(uuid), ApiError)
  })

  it('a failing API is asked again and again for a launch spec', async () => {
    answers = [{ status: 500 }, { status: 503 }, { status: 200, body: { uuid } }]
    assert.deepEqual(await client.launchSpec(uuid, new AbortController().signal), { uuid })
    assert.equal(requests.length, 3)
  })

  it('an instance that the API does not know is final', async () => {
    answers = [{ status: 404 }]
    await assert.rejects(
      client.launchSpec(uuid, new AbortController().signal),
      (error: unknown) =>
        error instanceof HostStartError && error.failure === HostFailure.UnknownInstance && error.final,
    )
    assert.equal(requests.length, 1)
  })

  it('an abort ends these attempts at once', async () => {
    answers = Array.from({ length: 20 }, () => ({ status: 500 }))
    const controller = new AbortController()
    const asked = client.launchSpec(uuid, controller.signal)
    controller.abort(new Error('given up'))
    await assert.rejects(asked, /given up/)
  })

  it('errors never hold the token or what the API answered', async () => {
    answers = [{ status: 403, body: { message: 'some secret' } }]
    await assert.rejects(client.registryToken('a/b'), (error: Error) => {
      assert.doesNotMatch(error.message, /join-secret|own-secret|some secret/)
      return true
    })
  })
})
