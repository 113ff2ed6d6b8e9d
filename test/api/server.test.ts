import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { closeServer, createApiServer } from '../../src/api/server.ts'

describe('the HTTP server', () => {
  let server: Server
  let finish: () => void
  let port: number
  beforeEach(async () => {
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const patience = { headers: 100, request: 200, checkEvery: 20 }
    server = createApiServer((request, response) => {
      if (request.url === '/slow') void finished.then(() => response.end('done'))
      else request.resume().once('end', () => response.end('read'))
    }, patience)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterEach(async () => {
    finish()
    await closeServer(server, 0)
  })

  async function exchange(text: string): Promise<string> {
    const socket = connect(port, '127.0.0.1')
    socket.write(text)
    let answer = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk))
    await once(socket, 'close')
    return answer
  }

  const slow: readonly [string, string][] = [
    ['headers', 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['a body', 'PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{'],
  ]
  for (const [what, text] of slow) {
    it(`answers 408 in the envelope to a client that does not get done with ${what}`, async () => {
      const answer = await exchange(text)
      assert.match(answer, /^HTTP\/1\.1 408 /)
      const error = { status: 408, error: 12, message: 'The request took too long to arrive' }
      assert.deepEqual(JSON.parse(answer.slice(answer.indexOf('{'))), {
        status: 'error',
        message: error.message,
        errors: [error],
      })
    })
  }

  it('lets requests under way finish when it closes, and accepts no new ones', async () => {
    const arrived = once(server, 'request')
    const answer = exchange('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
    await arrived
    const closed = closeServer(server, 10_000)
    await assert.rejects(exchange('GET / HTTP/1.1\r\nHost: x\r\n\r\n'), { code: 'ECONNREFUSED' })
    const beganMs = performance.now()
    finish()
    assert.match(await answer, /done$/)
    await closed
    assert.ok(performance.now() - beganMs < 5_000, 'an idle connection kept the server open')
  })

  it('closes connections whose requests do not finish within the grace', async () => {
    const arrived = once(server, 'request')
    const answer = exchange('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
    await arrived
    await closeServer(server, 50)
    assert.equal(await answer, '')
  })
})
