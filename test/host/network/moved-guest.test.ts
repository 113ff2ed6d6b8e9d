import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import { Program, servedPort } from '../mesh/mesh-scene.ts'
import type { SceneMachine } from '../mesh/mesh-scene.ts'
import { MovedScene, trafficProgram } from './moved-scene.ts'
import type { Guest } from './moved-scene.ts'

/** Long enough for a connection that is let through, many times over. */
const silenceMs = 1_500
const dnsPort = 53
const ann = '00000000-0000-4000-8000-00000000000a'
const bob = '00000000-0000-4000-8000-00000000000b'
const seat = '10.64.32.77'

describe('a guest that moves with its memory to another host', function () {
  let scene: MovedScene
  let [oldHost, newHost, gateway] = [] as unknown as [SceneMachine, SceneMachine, SceneMachine]
  let [mover, oldPeer, newPeer, oldStranger, newStranger] = [] as unknown as [
    Guest,
    Guest,
    Guest,
    Guest,
    Guest,
  ]
  /** Connections that were opened before the move, and the guest or machine at whose side they began. */
  const opened: Record<string, Program> = {}
  let names: Program

  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    scene = new MovedScene()
    ;[oldHost, newHost, gateway] = scene.mesh.machines as [SceneMachine, SceneMachine, SceneMachine]
    await scene.open()
    oldPeer = await scene.addGuest(oldHost, ann, 2)
    oldStranger = await scene.addGuest(oldHost, bob, 3)
    mover = await scene.addGuest(oldHost, ann, 4)
    newPeer = await scene.addGuest(newHost, ann, 2)
    newStranger = await scene.addGuest(newHost, bob, 3)
    await scene.tellAll()
    names = newHost.traffic('serve', String(dnsPort))
    await names.heard('ready')
    await scene.networkOf(newHost).admitDns()
    const to = mover.nic.ip
    opened['of a gateway elsewhere'] = gateway.connect(to)
    opened['of the gateway of the old host'] = oldHost.connect(to)
    opened['of the gateway of the new host'] = newHost.connect(to)
    opened['of a peer on the old host'] = scene.connect(oldPeer, to)
    opened['of a peer on the new host'] = scene.connect(newPeer, to)
    opened['to a peer on the old host'] = scene.connect(mover, oldPeer.nic.ip)
    opened['to a peer on the new host'] = scene.connect(mover, newPeer.nic.ip)
    for (const connection of Object.values(opened)) assert.ok(await connection.echoes('before the move'))
    assert.match(await scene.inGuest(mover, 'ip', 'neigh'), new RegExp(oldHost.address))
    await scene.move(mover, newHost, seat)
  })
  after(async () => await scene?.close())

  const isSilent = async (connection: Program): Promise<boolean> =>
    !(await connection.echoes('is anybody there', silenceMs))
  const pings = async (guest: Guest, address: string): Promise<boolean> =>
    await scene.inGuest(guest, 'busybox', 'ping', '-c1', '-W1', address).then(
      () => true,
      () => false,
    )

  it('may speak first on an open connection of a gateway, wherever that is', async () => {
    mover.server.say('the guest speaks first')
    for (const title of ['elsewhere', 'of the old host', 'of the new host']) {
      const [, connection] = Object.entries(opened).find(
        ([name]) => name.includes('gateway') && name.endsWith(title),
      )!
      assert.ok(await connection.heard('the guest speaks first'), title)
    }
  })

  it('keeps its open connections, also for large transfers', async () => {
    for (const [title, connection] of Object.entries(opened)) {
      assert.ok(await connection.echoes('after the move'), title)
      assert.ok(await connection.echoes('much '.repeat(100_000)), title)
    }
  })

  it('finds peers and is found by peers with new connections', async () => {
    for (const peer of [oldPeer, newPeer]) {
      assert.ok(await scene.connect(mover, peer.nic.ip).echoes('to a peer'))
      assert.ok(await scene.connect(peer, mover.nic.ip).echoes('from a peer'))
    }
    assert.ok(await gateway.connect(mover.nic.ip).echoes('from a gateway'))
  })

  it('is found by a peer on its old host that asks for its MAC, and nobody else gets an answer', async () => {
    for (const guest of [oldPeer, oldStranger])
      await scene.inGuest(guest, 'ip', 'neigh', 'flush', 'dev', 'eth0')
    assert.equal(await pings(oldPeer, mover.nic.ip), true)
    assert.equal(await pings(oldStranger, mover.nic.ip), false)
    const { bridge } = scene.planOf(oldHost)
    const mac = /ether (\S+)/.exec(await oldHost.run('ip', 'link', 'show', 'dev', bridge))?.[1] ?? 'none'
    const neighbour = async (guest: Guest) => await scene.inGuest(guest, 'ip', 'neigh', 'show', mover.nic.ip)
    assert.match(await neighbour(oldPeer), new RegExp(mac))
    assert.doesNotMatch(await neighbour(oldStranger), /lladdr/)
    // What nobody has is not answered for either.
    assert.equal(await pings(oldPeer, '10.64.48.200'), false)
  })

  it('finds its gateway when it asks for its MAC anew', async () => {
    await scene.inGuest(mover, 'ip', 'neigh', 'flush', 'dev', 'eth0')
    assert.ok(await scene.connect(mover, newPeer.nic.ip).echoes('after all was forgotten'))
    assert.match(await scene.inGuest(mover, 'ip', 'neigh', 'show', oldHost.address), /lladdr/)
  })

  it('reaches no instance of another user, and is reached by none', async () => {
    for (const stranger of [oldStranger, newStranger]) {
      assert.ok(await isSilent(scene.connect(mover, stranger.nic.ip)))
      assert.ok(await isSilent(scene.connect(stranger, mover.nic.ip)))
    }
    for (const machine of [oldHost, newHost, gateway])
      assert.ok(await isSilent(scene.connect(mover, machine.address)))
  })

  it('gets answers about names from the new host at the address of the old one', async () => {
    for (const address of [oldHost.address, newHost.address]) {
      const asking = scene.program(mover, 'ask', address, String(dnsPort))
      assert.ok(await asking.echoes(`who is at ${address}`))
      await names.heard(`${mover.nic.ip} who is at ${address}`)
      assert.ok(await scene.connect(mover, address, dnsPort).echoes('by TCP'))
    }
    const peer = scene.program(newPeer, 'ask', newHost.address, String(dnsPort))
    assert.ok(await peer.echoes('an instance of the new host asks as before'))
  })

  it('reaches the outside with the address of the new host, and takes no other', async () => {
    const outside = new Program(
      scene.mesh.wire,
      process.execPath,
      trafficProgram,
      'serve',
      String(servedPort),
    )
    await outside.heard('ready')
    assert.ok(await scene.program(mover, 'ask', '192.0.2.254', String(servedPort)).echoes('from where'))
    assert.ok(await outside.heard('192.0.2.2 from where'))
    await scene.networkOf(newHost).open()
    await scene.tellAll()
    assert.ok(await scene.program(mover, 'ask', '192.0.2.254', String(servedPort)).echoes('after a reload'))
    assert.ok(await outside.heard('192.0.2.2 after a reload'))
  })

  it('is not told to send straight to a neighbour, because it would keep that in mind', async () => {
    assert.ok(await scene.connect(newPeer, mover.nic.ip).echoes('by the gateway'))
    for (const [guest, to] of [
      [newPeer, mover.nic.ip],
      [mover, newPeer.nic.ip],
    ] as const)
      assert.doesNotMatch(await scene.inGuest(guest, 'ip', 'route', 'get', to), /redirected/)
  })

  it('is at the new host before the list of the mesh says so', async () => {
    const members = await scene.mesh.members()
    const elsewhere = members.map((member) =>
      member.address === gateway.address
        ? { ...member, networks: [...member.networks, `${mover.nic.ip}/32`] }
        : member,
    )
    await newHost.mesh.apply(elsewhere)
    const { bridge } = scene.planOf(newHost)
    const route = async () => await newHost.run('ip', 'route', 'get', mover.nic.ip)
    assert.match(await route(), new RegExp(bridge))
    assert.deepEqual(await newHost.mesh.check(), [])
    await newHost.run('ip', 'route', 'del', `${mover.nic.ip}/32`, 'dev', bridge)
    assert.match(await route(), new RegExp(newHost.interfaceName))
    await newHost.run('ip', 'route', 'add', `${mover.nic.ip}/32`, 'dev', bridge)
    await scene.tellAll()
  })

  it('wakes by packets of peers on either host while it is in standby there', async () => {
    const network = scene.networkOf(newHost)
    const sleeper = {
      ...oldPeer.nic,
      instanceUuid: bob,
      ip: '10.64.16.9',
      seat: '10.64.32.78',
      mac: '12:b0:00:00:16:09',
    }
    const woken: string[] = []
    network.onPeerTraffic(({ ip }) => woken.push(ip))
    await network.standBy(sleeper)
    try {
      for (const peer of [newPeer, mover]) {
        await scene.connect(newStranger, sleeper.ip).echoes('a stranger', silenceMs)
        assert.deepEqual(woken, [])
        const waking = scene.connect(peer, sleeper.ip)
        await until('the packet is reported', () => woken.length > 0, { limitMs: 20_000 })
        waking.child.kill()
        woken.length = 0
        await network.standBy(sleeper)
      }
    } finally {
      await network.detach(sleeper)
    }
    assert.equal(await newHost.run('ip', 'route', 'show', sleeper.ip), '')
  })

  it('finds everything when it has begun anew there, with the network that it gets', async () => {
    const { ip } = mover.nic
    const { prefixLength, gateway: host } = await scene.networkOf(newHost).attach(mover.nic)
    for (const args of [
      ['addr', 'add', `${ip}/${String(prefixLength)}`, 'dev', 'eth0'],
      ['addr', 'del', `${ip}/20`, 'dev', 'eth0'],
      ['route', 'replace', 'default', 'via', host],
      ['neigh', 'flush', 'dev', 'eth0'],
    ])
      await scene.inGuest(mover, 'ip', ...args)
    for (const peer of [oldPeer, newPeer]) {
      assert.ok(await scene.connect(mover, peer.nic.ip).echoes('to a peer'))
      assert.ok(await scene.connect(peer, ip).echoes('from a peer'))
    }
    for (const machine of [oldHost, newHost, gateway])
      assert.ok(await machine.connect(ip).echoes('from a gateway'))
    for (const stranger of [oldStranger, newStranger])
      assert.ok(await isSilent(scene.connect(mover, stranger.nic.ip)))
    assert.ok(await scene.program(mover, 'ask', '192.0.2.254', String(servedPort)).echoes('to the outside'))
    assert.ok(await scene.program(mover, 'ask', host, String(dnsPort)).echoes('about names'))
  })

  it('may come back, with the same connections', async () => {
    await scene.move(mover, oldHost)
    mover.server.say('the guest speaks first again')
    assert.ok(await opened['of a gateway elsewhere']?.heard('the guest speaks first again'))
    for (const [title, connection] of Object.entries(opened))
      assert.ok(await connection.echoes('at home'), title)
    const { table } = scene.planOf(newHost)
    assert.doesNotMatch(await newHost.run('nft', 'list', 'set', 'inet', table, 'seated'), /10\.64\.16/)
    assert.doesNotMatch(await newHost.run('nft', 'list', 'set', 'bridge', table, 'bound'), /10\.64\.16/)
  })
})
