import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { admitHost, inviteHost } from '../../../src/db/host/joining.ts'
import { PlatformPart } from '../../../src/domain/platform-part.ts'
import { listNodes } from '../../../src/db/host/hosts.ts'
import type { PartIdentity } from '../../../src/trust/part-identity.ts'
import { testAgentSecret, testSecretBox } from '../../support/accounts.ts'
import { identityOf } from '../../support/part-identities.ts'
import { exchange, keySha256Of, requestText, startRemoteApi } from '../../support/remote-api.ts'
import type { RemoteApi } from '../../support/remote-api.ts'

/** A removed host is cut off within a second. The rest is for this machine. */
const cutLimitMs = 1_500

describe('a host that joined and is removed', () => {
  let remote: RemoteApi
  beforeEach(async () => {
    remote = await startRemoteApi()
  })
  afterEach(() => remote.close())

  const remove = async (name: string) => await remote.admin.api.one('deleteHosts', { body: { name } })

  const beat = async (identity: PartIdentity) => {
    const room = { accelerator: 'tcg', memoryMb: 4_096, version: '0.1.0' }
    const body = JSON.stringify({
      agentUrl: 'https://127.0.0.1:7071',
      agentSecret: testAgentSecret('h2'),
      ...room,
    })
    const headers = ['Content-Type: application/json']
    return await exchange(
      await remote.connect(identity),
      requestText('PUT /internal/nodes/h2', { headers, body }),
    )
  }

  /** Resolves with how long the connections lived after `act`. */
  async function cutAfter(closed: readonly Promise<unknown>[], act: () => Promise<unknown>): Promise<number> {
    await act()
    const fromMs = performance.now()
    await Promise.all(closed)
    return performance.now() - fromMs
  }

  it('loses its open connections within a second, and gets no new ones', async () => {
    const h2 = await remote.joined('h2')
    assert.match(await beat(h2), /^HTTP\/1\.1 200 /)
    const names = await remote.connect(h2)
    names.write(
      `GET /internal/nodes/h2/names HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${testAgentSecret('h2')}\r\n\r\n`,
    )
    await once(names, 'data')
    const calls = await remote.connect(h2, { ALPNProtocols: ['h2'] })
    const session = connectHttp2('https://a', { createConnection: () => calls })
    session.on('error', () => undefined)
    await once(session.request({ ':method': 'POST', ':path': '/any' }), 'response')
    const closed = [once(names, 'close'), once(calls, 'close')]
    const livedMs = await cutAfter(closed, async () => assert.equal((await remove('h2')).status, 'success'))
    assert.ok(livedMs < cutLimitMs, `${livedMs} ms`)
    assert.match(await beat(h2), /^HTTP\/1\.1 401 [^]* it was removed/)
  })

  it('loses them as well when another machine takes its place', async () => {
    const h2 = await remote.joined('h2')
    await beat(h2)
    const open = await remote.connect(h2)
    open.write('GET /v2/ HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(open, 'data')
    const next = await identityOf(remote.authority, { part: PlatformPart.Agent, id: 'h2' })
    const livedMs = await cutAfter([once(open, 'close')], async () => {
      await remove('h2')
      await inviteHost(remote.api.database, { hostId: 'h2', secret: 's' })
      await admitHost(remote.api.database, { secret: 's', keySha256: keySha256Of(next) })
    })
    assert.ok(livedMs < cutLimitMs, `${livedMs} ms`)
    assert.match(await beat(h2), /^HTTP\/1\.1 401 /)
    assert.match(await beat(next), /^HTTP\/1\.1 200 /)
  })

  it('does not come back by a heartbeat on a connection that is not cut yet', async () => {
    const h2 = await remote.joined('h2')
    await beat(h2)
    const open = await remote.connect(h2)
    open.write('GET /v2/ HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(open, 'data')
    await remove('h2')
    const room = { accelerator: 'tcg', memoryMb: 4_096, version: '0.1.0' }
    const body = JSON.stringify({
      agentUrl: 'https://127.0.0.1:7071',
      agentSecret: testAgentSecret('h2'),
      ...room,
    })
    const answer = await exchange(
      open,
      requestText('PUT /internal/nodes/h2', { headers: ['Content-Type: application/json'], body }),
    )
    assert.doesNotMatch(answer, /^HTTP\/1\.1 200 /)
    const { database } = remote.api
    const nodes = await listNodes({ database, secretBox: testSecretBox })
    assert.deepEqual(
      nodes.map(({ id }) => id),
      ['local'],
    )
  })
})

describe('the server for hosts on other machines', () => {
  let remote: RemoteApi
  beforeEach(async () => {
    remote = await startRemoteApi()
  })
  afterEach(() => remote.close())

  it('ends requests that are not sent to their end', async function () {
    this.timeout(30_000)
    const socket = await remote.connect()
    const answer = exchange(socket, 'GET /v2/ HTTP/1.1\r\nHost: a\r\n')
    assert.match(await answer, /^HTTP\/1\.1 408 /)
  })

  it('closes at once if nothing is under way, whatever is connected', async () => {
    const h2 = await remote.joined('h2')
    const idle = await remote.connect(h2)
    idle.write('GET /v2/ HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(idle, 'data')
    const calls = await remote.connect(h2, { ALPNProtocols: ['h2'] })
    const session = connectHttp2('https://a', { createConnection: () => calls })
    session.on('error', () => undefined)
    await once(session.request({ ':method': 'POST', ':path': '/any' }), 'response')
    const fromMs = performance.now()
    await remote.closeRemote(10_000)
    assert.ok(performance.now() - fromMs < 2_000)
  })

  it('closes after its grace if a client is in the middle of something', async () => {
    const half = await remote.connect()
    half.write('POST /join HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{')
    const raw = connect(remote.place)
    raw.on('error', () => undefined)
    await once(raw, 'connect')
    const fromMs = performance.now()
    await remote.closeRemote(300)
    const tookMs = performance.now() - fromMs
    assert.ok(tookMs >= 290 && tookMs < 2_000, `${tookMs} ms`)
  })
})
