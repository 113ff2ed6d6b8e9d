import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { jsonLine } from '../../src/primitives/json-lines.ts'
import { LineStream } from '../../src/primitives/line-stream.ts'
import type { LineStreamChange, LineStreamOptions } from '../../src/primitives/line-stream.ts'
import { until } from '../support/until.ts'

const limitMs = 20_000
/** How long a stream may be silent. It is so long that a slow machine is not taken for a silent server. */
const patientMs = 30_000

describe('a stream of lines that has no end', () => {
  let server: Server
  let url: URL
  let answers: ((request: IncomingMessage, response: ServerResponse) => void)[]
  let asked: string[]
  let heard: object[]
  let changes: LineStreamChange[]
  let stream: LineStream | undefined

  beforeEach(async () => {
    answers = []
    asked = []
    heard = []
    changes = []
    server = createServer((request, response) => {
      asked.push(String(request.url))
      const answer = answers.shift()
      if (answer) answer(request, response)
      else response.write(jsonLine({ kind: 'last' }))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  })

  afterEach(async () => {
    await stream?.stop()
    server.closeAllConnections()
    server.close()
  })

  function read(options: Partial<LineStreamOptions> = {}): LineStream {
    stream = new LineStream({
      ask: () => ({
        url: new URL(`/lines?heard=${heard.length}`, url),
        headers: { authorization: 'Bearer x' },
      }),
      maxLineBytes: 1_000,
      silenceMs: patientMs,
      onLine: (line) => heard.push(line),
      onChange: (change) => changes.push(change),
      random: () => 1,
      ...options,
    })
    stream.start()
    return stream
  }
  const losses = () => changes.flatMap((change) => (change.connected ? [] : [change]))
  const untilHeard = (count: number) => until(`${count} lines`, () => heard.length >= count, { limitMs })

  it('sends the position of its reader with every attempt, and gives the lines in order', async () => {
    answers.push((_, response) => response.end(jsonLine({ n: 1 }) + jsonLine({ n: 2 })))
    read()
    await untilHeard(3)
    assert.deepEqual(heard, [{ n: 1 }, { n: 2 }, { kind: 'last' }])
    assert.deepEqual(asked, ['/lines?heard=0', '/lines?heard=2'])
    assert.equal(stream?.connected, true)
  })

  it('takes lines that arrive in pieces', async () => {
    answers.push((_, response) => {
      response.write('{"n":')
      setImmediate(() => response.write('1}\n{"n":2'))
      setTimeout(() => response.write('}\n'), 5)
    })
    read()
    await untilHeard(2)
    assert.deepEqual(heard, [{ n: 1 }, { n: 2 }])
  })

  it('waits longer after every failed attempt, until it hears something', async () => {
    const refuse = (_: IncomingMessage, response: ServerResponse) => response.writeHead(503).end()
    answers.push(refuse, refuse, (_, response) => response.end(jsonLine({ n: 1 })), refuse)
    read()
    await untilHeard(2)
    assert.deepEqual(
      losses().map(({ retryInMs, status }) => [retryInMs, status]),
      [
        [67, 503],
        [133, 503],
        [67, undefined],
        [133, 503],
      ],
    )
  })

  it('connects again when nothing is heard, although the connection is open', async () => {
    answers.push((_, response) => response.write(jsonLine({ n: 1 })))
    read({ silenceMs: 300 })
    await untilHeard(2)
    assert.match(losses()[0]?.why ?? '', /nothing was heard for 300 ms/)
  })

  it('connects again when not even a head is answered', async () => {
    answers.push(() => {})
    read({ silenceMs: 300 })
    await untilHeard(1)
    assert.equal(losses().length, 1)
  })

  for (const [what, sent] of [
    ['too long', `{"text":"${'x'.repeat(1_000)}"}\n`],
    ['endless', 'x'.repeat(5_000)],
    ['no JSON', 'nonsense\n'],
  ] as const) {
    it(`gives up a connection whose line is ${what}`, async () => {
      answers.push((_, response) => response.write(sent))
      read()
      await untilHeard(1)
      assert.deepEqual(heard, [{ kind: 'last' }])
      assert.match(losses()[0]?.why ?? '', /line/)
    })
  }

  it('gives up a connection when its reader refuses a line, and goes on with the next one', async () => {
    answers.push((_, response) => response.write(jsonLine({ n: 1 }) + jsonLine({ n: 2 })))
    read({
      onLine(line) {
        if ('n' in line) throw new Error('not taken')
        heard.push(line)
      },
    })
    await untilHeard(1)
    assert.deepEqual(heard, [{ kind: 'last' }])
    assert.match(losses()[0]?.why ?? '', /not taken/)
  })

  it('goes on after the server was away, and reports the reason in words', async () => {
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    read()
    await until('a loss', () => losses().length > 0, { limitMs })
    assert.match(losses()[0]?.why ?? '', /ECONNREFUSED/)
    server.listen(port, '127.0.0.1')
    await untilHeard(1)
  })

  it('gives no line after it was stopped, and leaves no connection', async () => {
    const one = read()
    await untilHeard(1)
    await one.stop()
    assert.equal(one.connected, false)
    await until('no connection', async () => (await connections(server)) === 0, { limitMs })
    assert.deepEqual(heard, [{ kind: 'last' }])
  })
})

function connections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}
