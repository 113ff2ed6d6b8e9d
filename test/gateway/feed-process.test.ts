import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { randomInt } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get as getPlain } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { get } from 'node:https'
import { text } from 'node:stream/consumers'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { RouteLine } from '../../src/domain/service/route-feed.ts'
import { jsonLine } from '../../src/primitives/json-lines.ts'
import { rememberedPorts } from '../../src/launch/ports.ts'
import { until } from '../support/until.ts'

const checkout = path.resolve(import.meta.dirname, '../..')
const limitMs = 40_000
const token = 'the-token-of-the-gateway'
/** A public port that is open only while this service is known. Ports 80 and 443 are always open. */
const ownPort = 1_443
const service: RouteLine = {
  kind: 'service',
  service: {
    uuid: '5a3ce2a4-5c43-4b0c-94f4-3d2e9f5d4a11',
    name: 'web',
    domains: [{ fqdn: 'web.roost.localhost' }],
    ports: [{ port: ownPort, destinationPort: 8080, handlers: ['tls', 'http'] }],
    softLimit: 1,
    hardLimit: 100,
  },
}

describe('the process of the gateway', function () {
  this.timeout(60_000)
  let directory: string
  let ports: Readonly<Record<'api' | 'metrics', number>>
  let api: Server | undefined
  let asked: string[]
  let refuses: boolean
  let offset: number
  let children: ChildProcess[]
  let output: string

  beforeEach(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'roost-gateway-'))
    mkdirSync(path.join(directory, 'keys'))
    writeFileSync(path.join(directory, 'keys', 'gateway-token'), `${token}\n`)
    ports = await rememberedPorts(path.join(directory, 'ports.json'), ['api', 'metrics'])
    asked = []
    children = []
    output = ''
    refuses = false
    // With this offset all public ports are below those that the kernel and other tests give out.
    offset = 2_000 * randomInt(2, 8)
  })
  afterEach(async () => {
    await stopApi()
    await Promise.all(children.map(end))
    rmSync(directory, { recursive: true })
  })

  async function startApi(): Promise<void> {
    api = createServer(answer).listen(ports.api, '127.0.0.1')
    await once(api, 'listening')
  }
  async function stopApi(): Promise<void> {
    if (!api?.listening) return
    api.closeAllConnections()
    api.close()
    await once(api, 'close')
  }
  function answer(request: IncomingMessage, response: ServerResponse): void {
    asked.push(`${request.headers.authorization} ${request.url}`)
    if (request.url === '/v1/echo') {
      response.end(JSON.stringify(request.headers))
      return
    }
    if (refuses) {
      response.writeHead(401).end()
      return
    }
    const snapshot = !String(request.url).includes('since')
    const lines: RouteLine[] = [
      { kind: 'begin', snapshot },
      ...(snapshot ? [service] : []),
      { kind: 'end', revision: 'r1' },
    ]
    response.write(lines.map((line) => jsonLine(line)).join(''))
  }

  function startGateway(): ChildProcess {
    const child = spawn(process.execPath, ['src/bin/gateway.ts'], {
      cwd: checkout,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        ROOST_DATA_DIR: directory,
        ROOST_API_URL: `http://127.0.0.1:${ports.api}`,
        ROOST_GATEWAY_METRICS_PORT: String(ports.metrics),
        ROOST_PORT_OFFSET: String(offset),
      },
    })
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => (output += String(chunk)))
    children.push(child)
    return child
  }
  const health = async (at: string) => {
    const response = await fetch(`http://127.0.0.1:${ports.metrics}${at}`).catch(() => undefined)
    return response && { status: response.status, text: await response.text() }
  }
  /** Sends a request as a client that trusts the metro root and no other. */
  async function ask(name: string, port: number, at: string): Promise<{ status: number; text: string }> {
    const ca = readFileSync(path.join(directory, 'gateway/metro/roost.localhost/authority.crt'))
    const host = `${name}:${port + offset}`
    const sent = get({
      ca,
      host: '127.0.0.1',
      port: port + offset,
      servername: name,
      path: at,
      headers: { host },
      agent: false,
    })
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    return { status: answer.statusCode ?? 0, text: await text(answer) }
  }
  const untilReady = (status: number) =>
    until(`readiness ${status}`, async () => (await health('/readyz'))?.status === status, { limitMs })

  it('asks the API for its routes with its token, and is ready once it was told them', async () => {
    startGateway()
    await untilReady(503)
    assert.match((await health('/readyz'))?.text ?? '', /API/)
    assert.equal((await health('/healthz'))?.status, 200)
    await startApi()
    await untilReady(200)
    assert.deepEqual(asked, [`Bearer ${token} /internal/gateway/routes`])
    const metrics = (await health('/metrics'))?.text ?? ''
    assert.match(metrics, /process_cpu/)
    assert.match(metrics, /roost_gateway_request_duration_seconds/)
    // The age counts from the last line of the API, or before the first line from the start of the gateway.
    // So it is less than the age of the process of this test.
    assert(Number(/^roost_gateway_routes_age_seconds (.+)$/m.exec(metrics)?.[1]) < performance.now() / 1_000)
  })

  it('leads the public name of the API to the API, and answers 404 for a name without a service', async () => {
    await startApi()
    startGateway()
    await untilReady(200)
    const echoed = await ask('api.roost.localhost', 443, '/v1/echo')
    assert.equal(echoed.status, 200)
    const headers = JSON.parse(echoed.text) as Record<string, string>
    assert.equal(headers['x-forwarded-host'], `api.roost.localhost:${443 + offset}`)
    assert.equal(headers['x-forwarded-proto'], 'https')
    const nothing = await ask('nothing.roost.localhost', 443, '/')
    assert.equal(nothing.status, 404)
    assert.match(nothing.text, /There is no service on this URL\./)
    const host = `api.roost.localhost:${80 + offset}`
    const sent = getPlain({
      host: '127.0.0.1',
      port: 80 + offset,
      path: '/v1?x=1',
      headers: { host },
      agent: false,
    })
    const [plain] = (await once(sent, 'response')) as [IncomingMessage]
    plain.resume()
    assert.ok([301, 302, 307, 308].includes(plain.statusCode ?? 0), String(plain.statusCode))
    assert.equal(plain.headers.location, `https://api.roost.localhost:${443 + offset}/v1?x=1`)
  })

  it('starts from its last routes while the API is away, and asks only for what came since', async () => {
    await startApi()
    const first = startGateway()
    await untilReady(200)
    await end(first)
    assert.equal(first.exitCode, 0)
    await stopApi()
    asked = []
    startGateway()
    await untilReady(200)
    assert.match(output, /"services":2,.*last routes/)
    // Only the saved routes publish this port.
    assert.equal((await ask('web.roost.localhost', ownPort, '/')).status, 404)
    assert.equal((await ask('api.roost.localhost', 443, '/v1/echo')).status, 502)
    await startApi()
    await until('a request', () => asked.length > 0, { limitMs })
    assert.deepEqual(asked, [`Bearer ${token} /internal/gateway/routes?since=r1`])
  })

  it('names the setting of a token that the API does not take, once, and never the token', async () => {
    refuses = true
    await startApi()
    startGateway()
    await until('several tries', () => asked.length >= 4, { limitMs })
    assert.equal(output.match(/ROOST_GATEWAY_TOKEN_FILE/g)?.length, 1)
    assert.ok(!output.includes(token))
  })
})

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
