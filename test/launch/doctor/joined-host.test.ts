import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import {
  clockCheck,
  controlPlaneChecks,
  joinedHostChecks,
  tunnelCheck,
} from '../../../src/launch/doctor/joined-host.ts'
import { hostAndPort } from '../../../src/domain/host-and-port.ts'
import { startRemoteApi } from '../../support/remote-api.ts'
import type { RemoteApi } from '../../support/remote-api.ts'
import type { PartIdentity } from '../../../src/trust/part-identity.ts'

describe("The doctor's look at a machine that joined", () => {
  let remote: RemoteApi
  before(async () => (remote = await startRemoteApi()))
  after(async () => await remote.close())

  /** What is said of a host that shows this identity. */
  const said = async (hostId: string, identity: PartIdentity, controlPlane = hostAndPort(remote.place)) => {
    const checks = await controlPlaneChecks({ hostId, controlPlane, identity })
    return checks.map(({ name, status, detail, remedy = '' }) => `${name} ${status}: ${detail}; ${remedy}`)
  }

  it('finds the control plane, which knows the host and has the same time', async () => {
    const [plane = '', clock = ''] = await said('h2', await remote.joined('h2'))
    assert.match(
      plane,
      /^control plane ok: 127\.0\.0\.1:\d+ answers host 'h2'; images and work come the same way/,
    )
    assert.match(clock, /^clock ok: /)
  })

  it('says so when the control plane does not answer, and what to look at', async () => {
    const squatter = createServer().listen(0, '127.0.0.1')
    await once(squatter, 'listening')
    const { port } = squatter.address() as AddressInfo
    squatter.close()
    const [plane = ''] = await said('h3', await remote.joined('h3'), `127.0.0.1:${port}`)
    assert.match(
      plane,
      new RegExp(`^control plane missing: 127\\.0\\.0\\.1:${port} does not answer: .*firewall`),
    )
  })

  it('says so when the host was removed', async () => {
    const identity = await remote.joined('gone')
    await remote.admin.api.one('deleteHosts', { object: 'gone' })
    const [plane = ''] = await said('gone', identity)
    assert.match(plane, /does not know host 'gone' any more; .*roost host invite/)
  })

  it('measures how far the clocks are apart', () => {
    assert.equal(clockCheck(1_000_000, 1_000_900).status, 'ok')
    assert.match(clockCheck(1_000_000, 1_030_000).detail, /^30 s ahead of/)
    const { status, detail } = clockCheck(1_000_000, 900_000)
    assert.deepEqual([status, detail], ['missing', '100 s behind the control plane'])
    assert.equal(clockCheck(Number.NaN, 1).status, 'warning')
  })

  it('says what carries the mesh', () => {
    const having = (...files: readonly string[]) => tunnelCheck((file) => files.includes(file))
    assert.equal(having('/usr/bin/wg', '/sys/module/wireguard').detail, 'WireGuard of the kernel')
    assert.match(having('/usr/bin/wg', '/usr/bin/wireguard-go').detail, /^wireguard-go/)
    assert.equal(having('/usr/bin/wg').status, 'missing')
    assert.equal(having('/sys/module/wireguard').remedy, 'install wireguard-tools')
  })

  it('names a port that another program has', async () => {
    const squatter = createServer().listen(0, '127.0.0.1')
    await once(squatter, 'listening')
    const { port } = squatter.address() as AddressInfo
    const host = {
      hostId: 'h2',
      controlPlane: hostAndPort(remote.place),
      ownAddress: '127.0.0.1',
      agentPort: port,
      meshPort: 0,
      identity: undefined,
    }
    const find = async (running: boolean) =>
      (await joinedHostChecks(host, running)).find(({ name }) => name === 'port of the agent')
    assert.match(String((await find(false))?.detail), new RegExp(`^TCP ${port} is used by another process`))
    assert.equal((await find(true))?.status, 'ok')
    squatter.close()
  })
})
