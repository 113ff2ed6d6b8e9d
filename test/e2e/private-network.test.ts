import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import type { ApiClient } from '../support/api-client.ts'
import { asksShell, servedShell, sh, shellAnswers } from '../support/guest-shell.ts'
import { runInstance, viewOf } from '../support/instances.ts'
import type { InstanceView } from '../support/instances.ts'
import { linePort, untilAsleep } from '../support/published-instance.ts'
import { asNewUser } from '../support/roost-command.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const asRoot = process.getuid?.() === 0
const commandLimitMs = 30_000
/**
 * Roost promises that creates and deletes are seen within this time if the machine is not busy. The measured
 * time includes a question by a guest's shell.
 */
const promisedMs = 1_000
const seenLimitMs = 10_000

describe('instances of one user', function () {
  let stack: Stack
  let other: ApiClient
  let one: InstanceView
  let theirs: InstanceView
  let sleeper: InstanceView
  let onHost: Server
  before(async function () {
    if (!asRoot) return this.skip()
    stack = await sharedStack()
    other = await asNewUser(stack, 'neighbour')
    const stateful = { policy: 'on', cooldown_time_ms: 500, stateful: true }
    ;[one, theirs, sleeper] = await Promise.all([
      runInstance(stack.api, { name: 'one', ...servedShell }),
      runInstance(other, { name: 'theirs', ...servedShell }),
      runInstance(stack.api, { name: 'sleeper', image: 'counter', scale_to_zero: stateful }),
    ])
    await Promise.all([one, theirs].map(shellAnswers))
    // The instance may go to sleep before its application listens. Each line that is sent wakes it.
    const listens = async (): Promise<boolean> => (await line('sleeper.internal')).includes('hello\n')
    await until('the sleeper listens', listens, { limitMs: commandLimitMs })
    onHost = createServer((socket) => socket.end('the host\n')).listen(0, '0.0.0.0')
    await once(onHost, 'listening')
  })
  after(async () => {
    onHost?.close()
    if (sleeper === undefined) return
    const mine = [one, sleeper].map(({ uuid }) => stack.api.one('deleteInstances', { object: uuid }))
    await Promise.all([...mine, other.one('deleteInstances', { object: theirs.uuid })])
    await other.close()
  })

  const asks = (from: InstanceView, type: string, name: string): Promise<string> =>
    sh(from, `nslookup -type=${type} ${name}`)
  const hasAddress = async (name: string, ip: string | undefined): Promise<boolean> =>
    (await asks(one, 'a', `${name}.internal`)).includes(`Address: ${ip}\n`)
  const isUnknown = async (name: string): Promise<boolean> =>
    (await asks(one, 'a', `${name}.internal`)).includes('NXDOMAIN')
  /** Sends a line; the counter answers it with its count. */
  const line = (host: string): Promise<string> => sh(one, `echo hello | nc -w60 ${host} ${linePort}`)
  const create = async (name: string): Promise<InstanceView> => {
    const { uuid } = await stack.api.one('createInstances', { body: { name, image: 'busybox' } })
    return viewOf(stack.api, uuid)
  }

  it('find each other by private_fqdn, and by the bare name', async () => {
    assert.equal(sleeper.private_fqdn, 'sleeper.internal')
    for (const name of ['sleeper.internal', 'sleeper'])
      assert.match(await line(name), /^\d+ hello$[^]*ended 0/m)
    assert.match(
      await sh(one, 'ping -c1 -W20 one.internal'),
      new RegExp(`\\(${one.private_ip}\\)[^]*ended 0`),
    )
  })

  it('have no IPv6 address, which is no error, and unknown names do not exist', async () => {
    assert.doesNotMatch(await asks(one, 'aaaa', 'one.internal'), /NXDOMAIN|timed out|REFUSED|SERVFAIL/)
    assert.match(await asks(one, 'aaaa', 'nobody.internal'), /NXDOMAIN/)
    assert.ok(await isUnknown('nobody'))
  })

  it('see creates and deletes within a second, and a name that came again at its new address', async () => {
    const created: number[] = []
    const deleted: number[] = []
    const addresses = new Set<string | undefined>()
    const timed = async (what: string, look: () => Promise<boolean>): Promise<number> => {
      const startedMs = performance.now()
      await until(what, look, { limitMs: seenLimitMs })
      return performance.now() - startedMs
    }
    for (let times = 0; times < 3; times++) {
      const made = await create('fleeting')
      addresses.add(made.private_ip)
      created.push(await timed('it has a name', () => hasAddress('fleeting', made.private_ip)))
      await stack.api.one('deleteInstances', { object: made.uuid })
      deleted.push(await timed('its name is gone', () => isUnknown('fleeting')))
    }
    assert.equal(addresses.size, 3)
    assert.ok(Math.min(...created) < promisedMs, `seen after ${created.map(Math.round).join(', ')} ms`)
    assert.ok(Math.min(...deleted) < promisedMs, `gone after ${deleted.map(Math.round).join(', ')} ms`)
  })

  it('do not see instances of another user, neither by name nor by address', async () => {
    assert.ok(await isUnknown('theirs'))
    assert.match(await asks(theirs, 'a', 'one.internal'), /NXDOMAIN/)
    assert.match(await asks(theirs, 'a', 'theirs.internal'), new RegExp(`Address: ${theirs.private_ip}\n`))
    for (const [from, to] of [
      [one, theirs],
      [theirs, one],
    ] as const) {
      assert.doesNotMatch(await asksShell(from, String(to.private_ip), 2), /theirs|one|ended 0/)
    }
    const reached = await asksShell(one, 'one.internal', 5)
    assert.match(reached, /^one$/m, 'the same command reaches a peer')
  })

  it('reach nothing of the host but its nameserver', async () => {
    const { port } = onHost.address() as AddressInfo
    const host = String(one.private_ip).replace(/\d+\.\d+$/, '0.1')
    assert.match(
      await sh(one, 'cat /etc/resolv.conf'),
      new RegExp(`^nameserver ${host.replaceAll('.', '\\.')}$`, 'm'),
    )
    assert.doesNotMatch(await sh(one, `nc -w2 ${host} ${port} < /dev/null`), /the host|ended 0/)
    assert.match(await sh(one, `nc -w2 ${host} 53 < /dev/null`), /ended 0/)
  })

  it('wake each other: a request of a peer is answered by a sleeper that goes on where it was', async () => {
    const before = Number.parseInt(await line('sleeper.internal'), 10)
    for (const expected of [before + 1, before + 2]) {
      const asleep = await untilAsleep(stack, sleeper.uuid)
      assert.notEqual(asleep.snapshot, undefined)
      assert.match(await line('sleeper.internal'), new RegExp(`^${expected} hello$`, 'm'))
    }
  })
})
