import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { PlatformPart } from '../../src/domain/platform-part.ts'
import { meshInterfaceName } from '../../src/host/network/address-plan.ts'
import { layWire } from '../support/host-machines.ts'
import type { Machine, Wire } from '../support/host-machines.ts'
import { runInstance, viewOf } from '../support/instances.ts'
import { identityOf } from '../support/part-identities.ts'
import { openPublicNames } from '../support/public-names.ts'
import { linePort, publish, untilAsleep } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import { processesOf, signalAll } from '../support/processes.ts'
import { createRoostProgram } from '../support/roost-program.ts'
import type { RoostProgram } from '../support/roost-program.ts'
import { startStack } from '../support/stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'
import type { WireRecording } from '../support/wire-recording.ts'

const joinedWithinMs = 10_000
const limitMs = 60_000

describe('a further host', () => {
  let wire: Wire
  let stack: Stack
  let roost: RoostProgram
  let machine: Machine
  /** Everything that passed between the machines while the host joined and worked. */
  let recorded: WireRecording
  let joinToken = ''

  before(async () => {
    wire = layWire(['h2'])
    machine = wire.machines[0]!
    recorded = await wire.record()
    stack = await startStack({ ROOST_HOSTS_ADDRESS: wire.address })
    roost = await createRoostProgram({ url: stack.apiUrl, token: stack.token })
  })
  after(async () => {
    await roost?.remove()
    await machine?.stop()
    await stack?.remove()
    await recorded?.remove()
    await wire?.remove()
  })

  const invited = async (...options: readonly string[]): Promise<readonly string[]> => {
    const { out, err, code } = await roost.run(['host', 'invite', ...options])
    assert.equal(code, 0, err)
    const [, address, token] = /^npx roost join (\S+) (\S+)\n$/.exec(out) ?? []
    assert.ok(address !== undefined && token !== undefined, out)
    return [address, token]
  }

  it('joins with the line that was printed, within ten seconds', async () => {
    const line = await invited()
    joinToken = line[1]!
    const outcome = await machine.join(line)
    assert.ok(outcome.isHost, machine.output())
    assert.ok(outcome.tookMs < joinedWithinMs, `${outcome.tookMs} ms`)
    const { out } = await roost.run(['host', 'list', 'h2'])
    assert.match(out, /^h2 +live /m)
  })

  it('runs what is placed there as the first host does', async () => {
    await stack.api.one('cordonHosts', { object: 'local' })
    const there = await runInstance(stack.api, {
      name: 'there',
      image: 'busybox',
      args: ['sh', '-c', 'echo said-$WORD; while :; do sleep 1; done'],
      env: { WORD: 'only-the-host-may-read-this' },
      volumes: [{ size_mb: 16, at: '/data' }],
    })
    const { code, out, err } = await roost.run([
      'exec',
      'there',
      '--',
      'sh',
      '-c',
      'echo kept > /data/file; cat /data/file',
    ])
    assert.deepEqual({ code, out }, { code: 0, out: 'kept\n' }, err)
    await until(
      'its output is readable',
      async () => {
        const logs = await roost.run(['logs', 'there'])
        return logs.out.includes('said-only-the-host-may-read-this')
      },
      { limitMs },
    )
    await stack.api.one('stopInstances', { object: there.uuid })
    await until('it is stopped', async () => (await viewOf(stack.api, there.uuid)).state === 'stopped', {
      limitMs,
    })
    await stack.api.one('startInstances', { object: there.uuid })
    await until('it runs again', async () => (await viewOf(stack.api, there.uuid)).state === 'running', {
      limitMs,
    })
    assert.equal((await roost.run(['exec', 'there', '--', 'cat', '/data/file'])).out, 'kept\n')
  })

  it('serves the public, awake and after both kinds of sleep', async () => {
    const names = openPublicNames(stack)
    try {
      const scaleToZero = { policy: 'on', cooldown_time_ms: 500 }
      const cold = await publish(stack, 'cold', { scale_to_zero: scaleToZero })
      const warm = await publish(stack, 'warm', { scale_to_zero: { ...scaleToZero, stateful: true } })
      const count = async ({ host }: Published) => (await names.get(`https://${host}/count`)).text.trim()
      for (const expected of ['1', '2']) assert.equal(await count(warm), expected)
      assert.equal(await count(cold), '1')
      for (const { uuid } of [cold, warm]) {
        const asleep = await untilAsleep(stack, uuid)
        assert.match(asleep.private_ip ?? '', /^10\./)
      }
      assert.equal(await count(cold), '1', 'a fresh application answers')
      assert.equal(await count(warm), '3', 'the memory was kept')
      const lines = await names.connect(warm.host, linePort)
      lines.write('hello\n')
      assert.match(String((await once(lines, 'data'))[0]), /./)
      lines.destroy()
      const socket = await names.websocket(`wss://${warm.host}/ws`)
      socket.close()
      for (const { uuid } of [cold, warm]) await stack.api.one('deleteInstances', { object: uuid })
    } finally {
      await names.close()
    }
  })

  it('goes on when the control plane or its own agent is started again', async () => {
    const before = await viewOf(stack.api, 'there')
    await stack.killPart('api')
    await machine.killPart('agent')
    const answers = async () => (await roost.run(['exec', 'there', '--', 'true'])).code === 0
    await until('programs run there again', answers, { limitMs })
    const after = await viewOf(stack.api, 'there')
    assert.deepEqual([after.state, after.start_count], [before.state, before.start_count])
  })

  it('comes back when it was away until its certificate was over', async () => {
    await machine.stop()
    const directory = path.join(machine.dataDir, 'identity')
    const read = (place: string, ...names: readonly string[]) =>
      readFileSync(path.join(place, ...names), 'utf8')
    const authority = {
      key: read(stack.dataDir, 'keys', 'authority.key'),
      chain: read(stack.dataDir, 'keys', 'authority.crt'),
    }
    const name = { part: PlatformPart.Agent, id: 'h2' }
    const longAgo = { nowMs: Date.now() - 30 * 86_400_000, key: read(directory, 'part.key') }
    const { certificate } = await identityOf(authority, name, longAgo)
    writeFileSync(path.join(directory, 'part.crt'), certificate)
    assert.ok((await machine.join([])).isHost, machine.output())
    const isLive = async () => /^h2 +live/m.test((await roost.run(['host', 'list', 'h2'])).out)
    await until('it is heard again', isLive, { limitMs })
    assert.notEqual(read(directory, 'part.crt'), certificate)
  })

  it('lets nothing be read on the wire', async () => {
    const frames = await recorded.stop()
    const agentSecret = readFileSync(path.join(machine.dataDir, 'agent', 'agent-secret'), 'utf8')
    assert.ok(frames.byteCount > 200_000, `only ${frames.byteCount} bytes were seen`)
    const secrets = [
      joinToken,
      agentSecret.trim(),
      'only-the-host-may-read-this',
      'instanceUuid',
      'Bearer ',
      'kept\n',
    ]
    assert.deepEqual(frames.seen(secrets), [])
  })

  it('is removed when it has nothing, and locked out at once', async () => {
    const refused = await roost.run(['host', 'remove', 'h2'])
    assert.match(refused.err, /Host 'h2' has instances: delete them first/)
    await stack.api.one('deleteInstances', { object: 'there' })
    await until(
      'nothing is left there',
      async () => {
        const { code } = await roost.run(['host', 'remove', 'h2'])
        return code === 0
      },
      { limitMs },
    )
    const lockedOut = 'is not a host of the installation any more'
    await until('the host says so', () => machine.output().includes(lockedOut), { limitMs })
    const hosts = await stack.api.call('getHosts')
    assert.deepEqual(
      hosts.map(({ name }) => name),
      ['local'],
    )
    await machine.stop()
  })

  it('says in one sentence why it can not join', async () => {
    const [address = '', token = ''] = await invited('--name', 'attic')
    assert.ok(!(await machine.join([address, token])).isHost)
    assert.match(machine.output(), /^roost: this machine is host 'h2' of .* already: /m)
    rmSync(path.join(machine.dataDir, 'host.json'))
    for (const [args, sentence] of [
      [[address, token.slice(0, -3)], /^roost: the token is not complete: /m],
      [[`${wire.address}:7`, token], /^roost: 192\.0\.2\.1:7 can not be reached \(.*ECONNREFUSED.*\): /m],
      [[address], /^roost: join takes an address and a token, or neither$/m],
      [[address, token, '--servce'], /^roost: join has no option '--servce'$/m],
      [[], /^roost: this machine has not joined an installation: /m],
    ] as const) {
      assert.ok(!(await machine.join(args)).isHost)
      assert.match(machine.output(), sentence)
    }
    const again = await machine.join([address, token])
    assert.ok(again.isHost, machine.output())
    await machine.stop()
    const file = path.join(machine.dataDir, 'host.json')
    const joined = JSON.parse(readFileSync(file, 'utf8')) as object
    writeFileSync(file, JSON.stringify({ ...joined, roles: ['gateway'] }))
    assert.ok(!(await machine.join([])).isHost)
    assert.match(machine.output(), /^roost: .*\/gateway\/identity is incomplete: join again$/m)
    rmSync(file)
    rmSync(path.join(machine.dataDir, 'identity'), { recursive: true })
    assert.ok(!(await machine.join([address, token])).isHost)
    assert.match(machine.output(), /^roost: another machine has joined with this invitation: /m)
  })

  it('joins over the agent and the mesh that a killed host left behind', async () => {
    // Without what earlier hosts of this machine kept, the agent need not start again for another network.
    rmSync(machine.dataDir, { recursive: true })
    const line = await invited('--name', 'loft')
    assert.ok((await machine.join(line)).isHost, machine.output())
    const mesh = meshInterfaceName(path.join(machine.dataDir, 'agent'))
    const isInMesh = () => machine.run('ip', '-br', 'link').includes(mesh)
    await until('it is in the mesh', isInMesh, { limitMs })
    const supervisor = processesOf(machine.dataDir).find(({ commandLine }) => commandLine.includes(' join '))
    // An agent that is halted keeps its port, and does not close the mesh when it is killed.
    signalAll([machine.pidOf('agent')!], 'SIGSTOP')
    signalAll([supervisor!.pid], 'SIGKILL')
    rmSync(path.join(machine.dataDir, 'host.json'))
    assert.ok(isInMesh())
    assert.ok((await machine.join(line)).isHost, machine.output())
    await machine.stop()
  })
})
