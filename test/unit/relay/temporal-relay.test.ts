import assert from 'node:assert/strict'
import { once } from 'node:events'
import { constants, createServer } from 'node:http2'
import type {
  ClientHttp2Stream,
  Http2Server,
  IncomingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { framed, GrpcClient } from '../../support/grpc-client.ts'
import { inTime } from '../../support/in-time.ts'
import { startRelayServer } from '../../support/relay-server.ts'
import type { RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

const limitMs = 10_000
const [ok, deadlineExceeded, exhausted, internal, unavailable] = [0, 4, 8, 13, 14]
const head = { ':status': 200, 'content-type': 'application/grpc' }
const poll = { namespace: 'roost', taskQueue: { name: 'node-a' } }
const systemInfo = '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo'

/** A server that stands for Temporal, and answers each call as the test says. */
class ScriptedTemporal {
  readonly calls: { readonly stream: ServerHttp2Stream; readonly headers: IncomingHttpHeaders }[] = []
  readonly sessions: ServerHttp2Session[] = []
  answer: (stream: ServerHttp2Stream) => void = (stream) => answered(stream, Buffer.alloc(0))
  readonly #server: Http2Server = createServer()

  async start(): Promise<void> {
    this.#server.on('session', (session) => this.sessions.push(session.on('error', () => undefined)))
    this.#server.on('stream', (stream, headers) => {
      stream.on('error', () => undefined).resume()
      this.calls.push({ stream, headers })
      stream.once('end', () => this.answer(stream))
    })
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get openSessions(): number {
    return this.sessions.filter((session) => !session.destroyed).length
  }

  close(): void {
    for (const session of this.sessions) session.destroy()
    this.#server.close()
  }
}

function optionsOf(address: string) {
  return { temporal: { address, namespace: 'roost' }, tokenKey: Buffer.alloc(32, 7) }
}

/** Answers with a message and a status of 0, or with other fields at the end. */
function answered(stream: ServerHttp2Stream, body: Uint8Array, last: object = { 'grpc-status': '0' }): void {
  stream.respond(head, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers({ ...last }))
  stream.end(framed(body))
}

describe('the relay', () => {
  let temporal: ScriptedTemporal
  let relay: RelayServer
  let host: GrpcClient

  beforeEach(async () => {
    temporal = new ScriptedTemporal()
    await temporal.start()
    relay = await startRelayServer('a', optionsOf(temporal.address))
    host = new GrpcClient(relay.address)
  })

  afterEach(async () => {
    host.close()
    await relay.close()
    await until('no connection is left', () => temporal.openSessions === 0, { limitMs })
    temporal.close()
  })

  it('shows Temporal the time that is left and the SDK, and nothing of who called', async () => {
    const headers = {
      'grpc-timeout': '20S',
      'client-name': 'temporal-typescript',
      authorization: 'Bearer x',
      'caller-type': 'operator',
      'temporal-namespace': 'other',
      cookie: 'x=y',
    }
    assert.equal((await host.call('GetSystemInfo', {}, { headers })).status, ok)
    const { 'grpc-timeout': timeout, ...others } = { ...temporal.calls[0]?.headers }
    const leftMs = Number(/^(\d+)m$/.exec(String(timeout))?.[1])
    assert.ok(leftMs > 10_000 && leftMs <= 20_000, String(timeout))
    assert.deepEqual(Object.keys(others).toSorted(), [
      ':authority',
      ':method',
      ':path',
      ':scheme',
      'client-name',
      'content-type',
      'te',
      'user-agent',
    ])
  })

  it("passes Temporal's statuses with their details, and no other field", async () => {
    const last = {
      'grpc-status': '5',
      'grpc-message': 'gone %25',
      'grpc-status-details-bin': 'AAAA',
      secret: 'x',
    }
    const ways = [
      (stream: ServerHttp2Stream) => stream.respond({ ...head, ...last }, { endStream: true }),
      (stream: ServerHttp2Stream) => answered(stream, Buffer.alloc(0), last),
    ]
    for (const way of ways) {
      temporal.answer = way
      const stream = host.begin(systemInfo)
      stream.end(framed(Buffer.alloc(0)))
      stream.resume()
      const [fields] = (await once(stream, 'response')) as [IncomingHttpHeaders]
      assert.deepEqual(
        [fields['grpc-status'], fields['grpc-message'], fields['grpc-status-details-bin'], fields['secret']],
        ['5', 'gone %25', 'AAAA', undefined],
      )
    }
  })

  it('serves the streams of requests, too', async () => {
    const other = await startRelayServer('a', optionsOf(temporal.address), { asRequests: true })
    const client = new GrpcClient(other.address)
    assert.equal((await client.call('GetSystemInfo')).status, ok)
    temporal.answer = (stream) => answered(stream, Buffer.alloc(0), { 'grpc-status': '5' })
    assert.equal((await client.call('GetSystemInfo')).status, 5)
    client.close()
    await other.close()
  })

  it('does not take for an answer what is none', async () => {
    const answers: readonly (readonly [(stream: ServerHttp2Stream) => void, number])[] = [
      [(stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM), unavailable],
      [(stream) => stream.respond({ ':status': 502 }, { endStream: true }), unavailable],
      [(stream) => stream.respond({ ':status': 200 }, { endStream: true }), unavailable],
      [(stream) => stream.respond({ ...head, 'grpc-status': '0' }, { endStream: true }), internal],
      [(stream) => answered(stream, Buffer.from('ffffffffffffffff', 'hex')), internal],
      [(stream) => answered(stream, Buffer.alloc(8 * 1024 * 1024 + 1)), internal],
      [(stream) => stream.session?.destroy(), unavailable],
      [(stream) => answered(stream, Buffer.alloc(0)), ok],
    ]
    for (const [answer, status] of answers) {
      temporal.answer = answer
      assert.equal((await host.call('PollActivityTaskQueue', poll)).status, status, String(answer))
    }
  })

  it('ends a call whose time is over, and takes it back from Temporal', async () => {
    temporal.answer = () => undefined
    const headers = { 'grpc-timeout': '100m' }
    const answer = await inTime(
      'the deadline',
      host.call('PollActivityTaskQueue', poll, { headers }),
      limitMs,
    )
    assert.equal(answer.status, deadlineExceeded)
    await isTakenBack(0)
    // The same holds for a call that the host never completes. Temporal does not hear of it.
    const stream = host.begin(systemInfo, headers)
    stream.write(Buffer.alloc(2))
    const [fields] = (await inTime('the deadline', once(stream, 'response'), limitMs)) as [
      IncomingHttpHeaders,
    ]
    assert.equal(Number(fields['grpc-status']), deadlineExceeded)
    assert.equal(temporal.calls.length, 1)
  })

  it('takes a call back from Temporal when the host cancels it or is gone', async () => {
    temporal.answer = () => undefined
    const ways = [(stream: ClientHttp2Stream) => stream.close(constants.NGHTTP2_CANCEL), () => relay.cut()]
    for (const leave of ways) {
      const stream = host.begin(systemInfo)
      stream.on('error', () => undefined).end(framed(Buffer.alloc(0)))
      const before = temporal.calls.length
      await until('Temporal has the call', () => temporal.calls.length > before, { limitMs })
      leave(stream)
      await isTakenBack(before)
    }
  })

  it('does not wait longer than 5 s for a server that takes the connection and says nothing', async () => {
    const silent = createTcpServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`
    const other = await startRelayServer('a', optionsOf(address))
    const client = new GrpcClient(other.address)
    assert.equal((await inTime('an answer', client.call('GetSystemInfo'), limitMs)).status, unavailable)
    client.close()
    await other.close()
    silent.close()
  })

  it('lets a host wait for work with so many calls at once, and with as many again afterwards', async () => {
    temporal.answer = () => undefined
    const mostPolls = 16
    for (const turn of [1, 2]) {
      const polls = Array.from({ length: mostPolls }, () => host.call('PollActivityTaskQueue', poll))
      await until('all wait', () => temporal.calls.length === turn * mostPolls, { limitMs })
      assert.equal((await host.call('PollActivityTaskQueue', poll)).status, exhausted)
      for (const { stream } of temporal.calls.slice(-mostPolls)) answered(stream, Buffer.alloc(0))
      assert.deepEqual(new Set((await Promise.all(polls)).map(({ status }) => status)), new Set([ok]))
    }
  })

  it('lets calls finish on a connection that Temporal ends, and makes another one for the next', async () => {
    temporal.answer = () => undefined
    const waiting = host.call('PollActivityTaskQueue', poll)
    await until('Temporal has the poll', () => temporal.calls.length === 1, { limitMs })
    temporal.sessions[0]?.goaway(constants.NGHTTP2_NO_ERROR, 1)
    temporal.answer = (stream) => answered(stream, Buffer.alloc(0))
    await until(
      'a call gets through',
      async () => (await host.call('GetSystemInfo')).status === ok && temporal.sessions.length === 2,
      { limitMs },
    )
    answered(temporal.calls[0]!.stream, Buffer.alloc(0))
    assert.equal((await inTime('the poll', waiting, limitMs)).status, ok)
    await until('the old connection is closed', () => temporal.openSessions === 1, { limitMs })
  })

  it('ends the polls at once when it is closed, and lets the other calls finish', async () => {
    temporal.answer = () => undefined
    const waiting = host.call('PollActivityTaskQueue', poll)
    const short = host.call('GetSystemInfo')
    await until('Temporal has both', () => temporal.calls.length === 2, { limitMs })
    const closed = relay.close()
    assert.equal((await inTime('the poll', waiting, 1_000)).status, unavailable)
    const stream = temporal.calls.find(({ headers }) => headers[':path'] === systemInfo)?.stream
    answered(stream!, Buffer.alloc(0))
    assert.equal((await inTime('the call', short, 1_000)).status, ok)
    await inTime('the end', closed, 1_000)
  })

  it('is closed soon, even if neither Temporal nor the host does anything', async () => {
    temporal.answer = () => undefined
    const short = host.call('GetSystemInfo')
    await until('Temporal has it', () => temporal.calls.length === 1, { limitMs })
    const closed = relay.close()
    assert.equal((await host.call('GetSystemInfo')).status, unavailable)
    assert.equal((await inTime('the call', short, limitMs)).status, unavailable)
    await inTime('the end', closed, 5_000)
  })

  async function isTakenBack(index: number): Promise<void> {
    const { stream } = temporal.calls[index]!
    await until('Temporal’s stream is closed', () => stream.closed, { limitMs })
    assert.equal(stream.rstCode, constants.NGHTTP2_CANCEL)
  }
})
