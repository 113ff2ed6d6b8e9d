import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Mesh } from '../../../src/host/mesh/mesh.ts'
import { processesIn } from '../../support/namespace.ts'
import { until } from '../../support/until.ts'
import { MeshScene, Program, servedPort, trafficLimitMs } from './mesh-scene.ts'
import type { SceneMachine } from './mesh-scene.ts'

/** Long enough for a packet that is let through, many times over. */
const silenceMs = 1_500

describe('the mesh of three machines', function () {
  let scene: MeshScene
  let [one, two, three] = [] as unknown as [SceneMachine, SceneMachine, SceneMachine]

  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    scene = new MeshScene()
    ;[one, two, three] = scene.machines as [SceneMachine, SceneMachine, SceneMachine]
    await scene.open()
  })
  beforeEach(async () => await scene.connectAll())
  after(async () => await scene?.close())

  it('lets all of them, and what is behind them, reach each other', async () => {
    for (const from of scene.machines) {
      for (const to of scene.machines.filter((other) => other !== from)) {
        assert.ok(await from.connect(to.address).echoes('from a host to a host'))
        assert.ok(await from.connect(to.instance, from.instance).echoes('between instances'))
      }
    }
  })

  it('sends from the machine’s own address in the mesh', async () => {
    one.traffic('datagram', two.instance, String(servedPort), '0.0.0.0', 'who is this')
    assert.ok(await scene.servers[1]?.heard(`${one.address} who is this`))
  })

  it('changes nothing when it is told the same again', async () => {
    assert.deepEqual(await one.mesh.apply(await scene.members()), [])
    assert.deepEqual(await one.mesh.check(), [])
  })

  it('carries large transfers', async () => {
    const connection = one.connect(two.instance, one.instance)
    assert.ok(await connection.echoes('much '.repeat(1_000_000)))
  })

  it('shows nobody on the wire what is said', async () => {
    const [secret, open] = ['known secret in the tunnel', 'known text beside the tunnel']
    const wire = scene.listen(secret, open)
    await wire.heard('ready')
    assert.ok(await one.connect(two.address).echoes(secret))
    assert.ok(await one.connect('192.0.2.2', '192.0.2.1').echoes(open))
    await wire.heard(`saw ${open}`)
    assert.deepEqual(
      wire.lines.filter((line) => line.includes(secret)),
      [],
    )
  })

  it('sends nothing in the clear while the tunnel is gone', async () => {
    const secret = 'said without a tunnel'
    const wire = scene.listen(secret, 'beside it')
    await wire.heard('ready')
    const connection = one.connect(two.address)
    assert.ok(await connection.echoes('said with a tunnel'))
    await endTunnel(one)
    connection.say(secret)
    assert.ok(await one.connect('192.0.2.2', '192.0.2.1').echoes('beside it'))
    await delay(silenceMs)
    assert.ok((await one.mesh.check()).includes('made the interface'))
    await connection.heard(secret)
    assert.deepEqual(
      wire.lines.filter((line) => line.includes(secret)),
      [],
    )
  })

  it('cuts a removed machine off at once', async () => {
    const connection = three.connect(one.address)
    assert.ok(await connection.echoes('before the removal'))
    const others = (await scene.members()).filter(({ address }) => address !== three.address)
    await one.mesh.apply(others)
    assert.equal(await connection.echoes('after the removal', silenceMs), false)
    assert.equal(await one.run('ip', 'route', 'show', three.network), '')
    assert.ok(await one.connect(two.address).echoes('the others go on'))
    await scene.connectAll()
    assert.ok(await connection.heard('after the removal'), 'the connection goes on when it is a member again')
  })

  it('drops packets with an address that does not belong to their machine', async () => {
    await three.run('ip', 'addr', 'add', '10.64.32.77/32', 'dev', 'lo')
    try {
      three.traffic('datagram', one.address, String(servedPort), '10.64.32.77', 'forged')
      three.traffic('datagram', one.address, String(servedPort), three.instance, 'true')
      const server = scene.servers[0]
      await server?.heard(`${three.instance} true`)
      await delay(silenceMs)
      assert.deepEqual(
        server?.lines.filter((line) => line.includes('forged')),
        [],
      )
    } finally {
      await three.run('ip', 'addr', 'del', '10.64.32.77/32', 'dev', 'lo')
    }
  })

  it('moves one address to another machine and back', async () => {
    const members = await scene.members()
    const moved = members.map((member) =>
      member.address === three.address
        ? { ...member, networks: [...member.networks, '10.64.32.77/32'] }
        : member,
    )
    await three.run('ip', 'addr', 'add', '10.64.32.77/32', 'dev', 'lo')
    try {
      for (const { mesh } of scene.machines) await mesh.apply(moved)
      assert.ok(await one.connect('10.64.32.77').echoes('to the new machine'))
      assert.ok(await one.connect(two.instance).echoes('to the old machine'))
    } finally {
      await three.run('ip', 'addr', 'del', '10.64.32.77/32', 'dev', 'lo')
    }
    await scene.connectAll()
    assert.equal(await one.run('ip', 'route', 'show', '10.64.32.77/32'), '')
  })

  it('may have more addresses than fit into one command, and one of them goes to another machine', async () => {
    const members = await scene.members()
    const addresses = (first: number) =>
      Array.from({ length: 4_000 }, (_, index) => `10.64.${64 + first + (index >> 8)}.${index & 255}/32`)
    const list = (moved: SceneMachine) =>
      members.map((member) => ({
        ...member,
        networks: [
          ...member.networks,
          ...(member.address === two.address ? addresses(0) : []),
          ...(member.address === three.address ? addresses(16) : []),
          ...(member.address === moved.address ? ['10.64.96.9/32'] : []),
        ],
      }))
    const holder = async () =>
      (await one.run('wg', 'show', one.interfaceName, 'dump'))
        .split('\n')
        .find((line) => line.includes('10.64.96.9/32'))
    await one.mesh.apply(list(two))
    for (const moved of [three, two, three]) {
      assert.equal((await one.mesh.apply(list(moved))).length, 2)
      assert.ok((await holder())?.startsWith(await moved.mesh.publicKey()))
      assert.deepEqual(await one.mesh.check(), [])
    }
    await scene.connectAll()
  })

  describe('is repaired by a check', () => {
    const damages: Readonly<Record<string, (machine: SceneMachine) => Promise<unknown>>> = {
      'when somebody removed the interface': async (machine) =>
        await machine.run('ip', 'link', 'del', machine.interfaceName),
      'when the process of the interface ended': endTunnel,
      'when somebody removed a peer': async (machine) =>
        await setPeer(machine, await three.mesh.publicKey(), 'remove'),
      'when somebody gave a peer another network': async (machine) =>
        await setPeer(machine, await three.mesh.publicKey(), 'allowed-ips', '10.99.0.0/16'),
      'when somebody added a peer': async (machine) =>
        await setPeer(machine, 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE=', 'allowed-ips', '10.98.0.0/16'),
      'when somebody removed the routes': async (machine) => {
        await machine.run('ip', 'route', 'del', three.network, 'dev', machine.interfaceName)
        await machine.run('ip', 'route', 'flush', 'type', 'unreachable')
      },
      'when somebody added a route': async (machine) =>
        await machine.run('ip', 'route', 'add', '10.97.0.0/16', 'dev', machine.interfaceName),
      'when somebody switched the interface off': async (machine) =>
        await machine.run('ip', 'link', 'set', machine.interfaceName, 'down'),
      'when somebody changed its address': async (machine) =>
        await machine.run('ip', 'addr', 'replace', '10.96.0.1/32', 'dev', machine.interfaceName),
      'when somebody changed the port': async (machine) =>
        await machine.run('wg', 'set', machine.interfaceName, 'listen-port', '4000'),
      'when another interface has taken its name': async (machine) => {
        await machine.run('ip', 'link', 'del', machine.interfaceName)
        await until('the end of the tunnel', () => tunnelProcesses(machine).length === 0, { limitMs: 5_000 })
        await machine.run('ip', 'link', 'add', machine.interfaceName, 'type', 'bridge')
      },
    }
    for (const [title, damage] of Object.entries(damages)) {
      it(title, async () => {
        const connection = two.connect(three.address)
        assert.ok(await connection.echoes('before the damage'))
        await damage(two)
        assert.notDeepEqual(await two.mesh.check(), [], 'the check tells what it changed')
        assert.deepEqual(await two.mesh.check(), [], 'nothing is left to repair')
        assert.ok(await connection.echoes('after the repair'))
        assert.ok(await two.connect(one.instance).echoes('from a new connection'))
      })
    }
  })

  it('outlives the agent, whose successor changes nothing, and open connections go on', async () => {
    await one.mesh.close()
    const members = await scene.members()
    const order = { namespace: one.namespace, ...one.place, machines: members }
    const agent = new Program(one.namespace, process.execPath, agentProgram, JSON.stringify(order))
    await agent.heard('[')
    const connection = two.connect(one.instance)
    assert.ok(await connection.echoes('while the agent lives'))
    agent.child.kill('SIGKILL')
    await until('the end of the agent', () => agent.child.exitCode ?? agent.child.signalCode ?? false, {
      limitMs: trafficLimitMs,
    })
    assert.ok(await connection.echoes('after the end of the agent'))
    one.mesh = one.openMesh()
    assert.deepEqual(await one.mesh.check(), [], 'a check before the first list changes nothing')
    assert.deepEqual(await one.mesh.apply(members), [])
    assert.ok(await connection.echoes('with the next agent'))
  })

  it('keeps open connections when a machine gets another key, which the old one can not use any more', async () => {
    const connection = three.connect(two.instance)
    assert.ok(await connection.echoes('with the old key'))
    const oldKey = await two.mesh.publicKey()
    const newKey = await two.mesh.rekey()
    assert.notEqual(newKey, oldKey)
    await scene.connectAll()
    assert.ok(await connection.echoes('with the new key'))
    assert.equal((await three.run('wg', 'show', three.interfaceName, 'peers')).includes(oldKey), false)
    assert.deepEqual(await two.mesh.check(), [])
  })

  it('leaves nothing but the key when it is closed, and comes back with the same key', async () => {
    const key = await one.mesh.publicKey()
    await one.mesh.close()
    await one.mesh.close()
    assert.equal((await one.run('ip', '-o', 'link')).includes(one.interfaceName), false)
    assert.equal(await one.run('ip', 'route', 'show', 'type', 'unreachable'), '')
    await until('the end of the tunnel', () => tunnelProcesses(one).length === 0, { limitMs: 5_000 })
    assert.equal(await one.mesh.publicKey(), key)
  })

  it('says so if another program has its port, and gets the port once it is free', async () => {
    await three.mesh.close()
    const other = three.traffic('serve', '51820')
    await other.heard('ready')
    await assert.rejects(three.mesh.apply(await scene.members()), /at the UDP port 51820: end the program/)
    other.child.kill('SIGKILL')
    const repair = async () => await three.mesh.check().catch(() => undefined)
    assert.ok((await until('the port', repair, { limitMs: trafficLimitMs })).includes('set the port'))
    assert.ok(await three.connect(one.address).echoes('at the port'))
  })

  it('keeps the private key in one file for its user alone', async () => {
    const path = join(one.directory, 'mesh-key')
    assert.equal(statSync(path).mode & 0o777, 0o600)
    const secret = readFileSync(path, 'utf8').trim()
    assert.equal((await one.run('wg', 'show', one.interfaceName, 'private-key')).trim(), secret)
    for (const pid of processesIn(one.namespace)) {
      for (const file of ['cmdline', 'environ'])
        assert.equal(readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(secret), false)
    }
  })

  it('says which file is wrong if the private key is damaged, and shows nothing of it', async () => {
    const path = join(one.directory, 'mesh-key')
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.slice(0, 20))
    try {
      await assert.rejects(one.mesh.check(), ({ message }: Error) => {
        assert.match(message, /mesh-key is no key: it has 15 bytes instead of 32/)
        assert.equal(message.includes(text.slice(0, 8)), false)
        return true
      })
    } finally {
      writeFileSync(path, text)
    }
  })
})

describe('a machine that can not be in a mesh', () => {
  const refused = async (isRoot: boolean, has: (path: string) => boolean): Promise<string> => {
    const directory = '/nowhere'
    const mesh = new Mesh({ directory, address: '10.64.0.1', listenPort: 1, machine: { isRoot, has } })
    return await mesh.apply([]).then(
      () => 'nothing',
      ({ message }: Error) => message,
    )
  }

  it('is told what is missing', async () => {
    assert.match(await refused(false, () => true), /^only root can connect this machine/)
    assert.match(await refused(true, () => false), /no program wg, .* install the package wireguard-tools$/)
  })
})

const agentProgram = join(import.meta.dirname, 'agent-program.ts')

async function setPeer(machine: SceneMachine, key: string, ...args: string[]): Promise<void> {
  await machine.run('wg', 'set', machine.interfaceName, 'peer', key, ...args)
}

/** The processes `wireguard-go` of a machine; none where the kernel has the module. */
function tunnelProcesses({ namespace }: SceneMachine): readonly number[] {
  return processesIn(namespace).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('wireguard-go'),
  )
}

async function endTunnel(machine: SceneMachine): Promise<void> {
  const processes = tunnelProcesses(machine)
  for (const pid of processes) process.kill(pid, 'SIGKILL')
  // The kernel's own interface has no process that could end.
  if (processes.length === 0) await machine.run('ip', 'link', 'del', machine.interfaceName)
  await until('the end of the tunnel', () => tunnelProcesses(machine).length === 0, { limitMs: 5_000 })
}
