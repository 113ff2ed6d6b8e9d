import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRegistryPass } from '../../../src/api/remote/registry-pass.ts'
import type { RegistryPass } from '../../../src/api/remote/registry-pass.ts'
import { until } from '../../support/until.ts'

const mostPulls = 64
const limitMs = 10_000

describe('the pulls of hosts', () => {
  let registry: Server
  let front: Server
  let pass: RegistryPass
  /** The answers of the registry that have not ended. */
  const open: ServerResponse[] = []
  before(async () => {
    registry = createServer((_request, response) => {
      open.push(response)
      response.write('a beginning')
    })
    pass = createRegistryPass(`http://127.0.0.1:${await listening(registry)}`)
    front = createServer((request, response) => pass(String(request.headers['x-host']), request, response))
    await listening(front)
  })
  after(async () => {
    for (const server of [front, registry]) {
      server.closeAllConnections()
      server.close()
    }
    await pass.close()
  })

  async function listening(server: Server): Promise<number> {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const pull = async (host: string, signal?: AbortSignal) =>
    await fetch(`http://127.0.0.1:${(front.address() as AddressInfo).port}/v2/a/blobs/b`, {
      headers: { 'x-host': host },
      ...(signal && { signal }),
    })

  it('of one host do not use up those of another', async () => {
    const gone = new AbortController()
    const pulls = await Promise.all(
      Array.from({ length: mostPulls }, async () => await pull('h2', gone.signal)),
    )
    assert.ok(pulls.every(({ status }) => status === 200))
    const more = await pull('h2')
    assert.deepEqual([more.status, more.headers.get('retry-after')], [503, '1'])
    const other = await pull('h3')
    assert.equal(other.status, 200)
    await other.body?.cancel()
    gone.abort()
    await until(
      'the host may pull again',
      async () => {
        const again = await pull('h2')
        await again.body?.cancel()
        return again.status === 200
      },
      { limitMs },
    )
  })
})
