import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { planAddresses, tapName } from '../../../src/host/network/address-plan.ts'
import type { NicSpec } from '../../../src/host/network/network.ts'
import { TapNetwork } from '../../../src/host/network/tap-network.ts'
import { readInstalled, requireInstalled } from '../../../src/launch/installed.ts'
import { until } from '../../support/until.ts'
import { MeshScene, Program, servedPort } from '../mesh/mesh-scene.ts'
import type { SceneMachine } from '../mesh/mesh-scene.ts'

/** Long enough for a connection that is let through, many times over. */
const silenceMs = 1_500
const peerWatchPath = join(requireInstalled(readInstalled(), 'guestDirectory'), 'peer-watch')
const trafficProgram = join(import.meta.dirname, '../mesh/traffic-program.ts')
const ann = '00000000-0000-4000-8000-00000000000a'
const bob = '00000000-0000-4000-8000-00000000000b'

/** A VM: a namespace with a server in it, connected to its host's network. */
interface SceneVm {
  readonly nic: NicSpec
  readonly namespace: string
  readonly server: Program
}

describe('instances of several hosts in a mesh', function () {
  const networks: TapNetwork[] = []
  let scene: MeshScene
  let [one, two, three] = [] as unknown as [SceneMachine, SceneMachine, SceneMachine]
  let [annsFirst, bobsFirst, annsSecond, bobsSecond] = [] as unknown as [SceneVm, SceneVm, SceneVm, SceneVm]

  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    scene = new MeshScene()
    ;[one, two, three] = scene.machines as [SceneMachine, SceneMachine, SceneMachine]
    await scene.open({ addresses: false })
    for (const machine of [one, two]) networks.push(await openNetwork(machine))
    await scene.connectAll()
    annsFirst = await addVm(one, ann, 2)
    bobsFirst = await addVm(one, bob, 3)
    annsSecond = await addVm(two, ann, 2)
    bobsSecond = await addVm(two, bob, 3)
    scene.servers.push(three.traffic('serve', String(servedPort)), two.traffic('serve', String(servedPort)))
    await Promise.all(scene.servers.map(async (server) => await server.heard('ready')))
  })
  beforeEach(async () => await tellAll())
  after(async () => {
    for (const network of networks) await network.close()
    await scene?.close()
  })

  const openNetwork = async (machine: SceneMachine): Promise<TapNetwork> => {
    const network = new TapNetwork({
      directory: machine.directory,
      subnet: machine.network,
      outbound: true,
      commands: machine.commands,
      netDevPath: `/proc/${String(machine.traffic('serve', '1').child.pid)}/net/dev`,
      peerWatchPath,
      warn: (message) => assert.fail(message),
    })
    await network.open()
    return network
  }
  const networkOf = (machine: SceneMachine): TapNetwork => networks[machine === one ? 0 : 1]!
  const addressOf = (machine: SceneMachine, index: number): string =>
    machine.address.replace(/\.1$/, `.${String(index)}`)

  async function addVm(machine: SceneMachine, userUuid: string, index: number): Promise<SceneVm> {
    const ip = addressOf(machine, index)
    const mac = `12:b0:00:00:${machine === one ? '01' : '02'}:0${String(index)}`
    const namespace = `${machine.namespace}-vm${String(index)}`
    const tap = tapName(planAddresses({ directory: machine.directory, subnet: machine.network }), { ip })
    scene.addNamespace(namespace)
    scene.ip(
      '-n',
      machine.namespace,
      ...`link add ${tap} type veth peer name eth0 netns ${namespace}`.split(' '),
    )
    scene.ip('-n', namespace, 'link', 'set', 'eth0', 'address', mac)
    scene.ip('-n', namespace, 'addr', 'add', `${ip}/20`, 'dev', 'eth0')
    scene.ip('-n', namespace, 'link', 'set', 'eth0', 'up')
    scene.ip('-n', namespace, 'route', 'add', 'default', 'via', machine.address)
    const nic = { instanceUuid: `00000000-0000-4000-8000-00000000000${String(index)}`, userUuid, ip, mac }
    await networkOf(machine).attach(nic)
    const server = new Program(namespace, process.execPath, trafficProgram, 'serve', String(servedPort))
    await server.heard('ready')
    return { nic, namespace, server }
  }

  /** Tells both hosts what the API would: what is on the other one, and that `three` has a gateway. */
  async function tellAll(): Promise<void> {
    const owners = (vms: readonly SceneVm[]) => new Map(vms.map(({ nic }) => [nic.ip, nic.userUuid]))
    const gateways = [three.address]
    await networkOf(one).tellMesh({ gateways, instances: owners([annsSecond, bobsSecond]) })
    await networkOf(two).tellMesh({ gateways, instances: owners([annsFirst, bobsFirst]) })
  }

  const connect = ({ namespace, nic }: SceneVm, to: string): Program =>
    new Program(namespace, process.execPath, trafficProgram, 'connect', to, String(servedPort), nic.ip)
  const ownersOf = async (machine: SceneMachine): Promise<ReadonlyMap<string, string>> => {
    const { table } = planAddresses({ directory: machine.directory, subnet: machine.network })
    const listed = await machine.run('nft', 'list', 'map', 'inet', table, 'owners')
    return new Map([...listed.matchAll(/([\d.]+) : (\w+)/g)].map(([, ip = '', user = '']) => [ip, user]))
  }
  const isSilent = async (connection: Program): Promise<boolean> =>
    !(await connection.echoes('is anybody there', silenceMs))

  it('reach those of their user, both ways, with their own addresses', async () => {
    assert.ok(await connect(annsFirst, annsSecond.nic.ip).echoes('to the second host'))
    assert.ok(await connect(annsSecond, annsFirst.nic.ip).echoes('to the first host'))
    assert.ok(await connect(bobsFirst, bobsSecond.nic.ip).echoes('another user'))
    const { namespace, nic } = annsFirst
    const datagram = ['datagram', annsSecond.nic.ip, String(servedPort), nic.ip, 'who is this']
    const sender = new Program(namespace, process.execPath, trafficProgram, ...datagram)
    assert.ok(await annsSecond.server.heard(`${nic.ip} who is this`))
    sender.child.kill()
  })

  it('do not reach those of other users', async () => {
    assert.ok(await isSilent(connect(annsFirst, bobsSecond.nic.ip)))
    assert.ok(await isSilent(connect(bobsSecond, annsFirst.nic.ip)))
  })

  it('are closed to forged sources, of instances and of other machines', async () => {
    const forge = async (from: string, source: string, device: string): Promise<void> => {
      scene.ip('-n', from, 'addr', 'add', `${source}/32`, 'dev', device)
      const args = ['datagram', annsFirst.nic.ip, String(servedPort), source, 'forged']
      await once(new Program(from, process.execPath, trafficProgram, ...args).child, 'close')
      scene.ip('-n', from, 'addr', 'del', `${source}/32`, 'dev', device)
    }
    const { namespace } = bobsSecond
    for (const source of [annsSecond.nic.ip, three.address, two.address, addressOf(two, 9)])
      await forge(namespace, source, 'eth0')
    // A whole host is in the wrong hands: it takes addresses that are not its own, or nobody's.
    for (const source of [three.address, three.instance, addressOf(two, 9), bobsSecond.nic.ip])
      await forge(two.namespace, source, 'lo')
    const honest = ['datagram', annsFirst.nic.ip, String(servedPort), annsSecond.nic.ip, 'honest']
    await once(new Program(annsSecond.namespace, process.execPath, trafficProgram, ...honest).child, 'close')
    assert.ok(await annsFirst.server.heard(`${annsSecond.nic.ip} honest`))
    assert.deepEqual(
      annsFirst.server.lines.filter((line) => line.endsWith('forged')),
      [],
    )
  })

  it('learn from the start how large a packet may be, and carry large transfers', async () => {
    const connection = connect(annsFirst, annsSecond.nic.ip)
    assert.ok(await connection.echoes('hello'))
    const sockets = await one.run('ip', 'netns', 'exec', annsFirst.namespace, 'ss', '-tinH')
    // 1420 bytes without 20 for IP, 20 for TCP and 12 for the time stamps of TCP.
    assert.match(sockets, / mss:1368 /)
    assert.ok(await connection.echoes('much '.repeat(400_000)))
  })

  it('are reached by the machine with the gateway, and open no connections to it', async () => {
    for (const vm of [annsFirst, bobsFirst, annsSecond, bobsSecond])
      assert.ok(await three.connect(vm.nic.ip).echoes('from the gateway'))
    assert.ok(await isSilent(connect(annsFirst, three.address)))
  })

  it('are not reached by a machine without one', async () => {
    assert.ok(await isSilent(two.connect(annsFirst.nic.ip)))
    await networkOf(one).tellMesh({ gateways: [], instances: new Map() })
    assert.ok(await isSilent(three.connect(annsFirst.nic.ip)))
  })

  it('leave the hosts themselves alone, and so do the other machines', async () => {
    assert.ok(await isSilent(connect(annsFirst, two.address)))
    assert.ok(await isSilent(three.connect(two.address)))
    assert.ok(await two.connect(three.address).echoes('the host gets the answers to its own connections'))
  })

  it('leave the port of the agent to machines with a gateway, an API or a worker', async () => {
    assert.ok(await isSilent(three.connect(two.address)))
    await networkOf(two).admitCallers(servedPort)
    assert.ok(await three.connect(two.address).echoes('a gateway asks for leases'))
    assert.ok(await isSilent(one.connect(two.address)))
    await networkOf(two).tellMesh({ gateways: [], controlMachines: [three.address], instances: new Map() })
    assert.ok(await three.connect(two.address).echoes('an API asks for a log'))
    assert.ok(await isSilent(three.connect(annsSecond.nic.ip)), 'it reaches no instance')
    await tellAll()
    assert.ok(await isSilent(connect(annsSecond, two.address)))
    assert.ok(await isSilent(connect(annsFirst, two.address)))
  })

  it('do not reach a port that the host opened to one other machine, and neither does a third one', async () => {
    const network = networkOf(two)
    const isOpen = async (machine: SceneMachine) => !(await isSilent(machine.connect(two.address)))
    await network.tellMesh({ gateways: [], instances: new Map([[annsFirst.nic.ip, ann]]) })
    // An earlier test has let machines with a gateway call this port.
    assert.deepEqual([await isOpen(one), await isOpen(three)], [false, false])
    await network.openTo(servedPort, [one.address])
    await network.openTo(servedPort + 1, [three.address])
    assert.deepEqual([await isOpen(one), await isOpen(three)], [true, false])
    for (const vm of [annsFirst, annsSecond]) assert.ok(await isSilent(connect(vm, two.address)))
    await network.open()
    assert.deepEqual([await isOpen(one), await isOpen(three)], [true, false], 'after a reload')
    await network.openTo(servedPort, [three.address, three.address])
    assert.deepEqual([await isOpen(one), await isOpen(three)], [false, true])
    await network.openTo(servedPort, [])
    await network.openTo(servedPort, [])
    assert.deepEqual([await isOpen(one), await isOpen(three)], [false, false])
    await assert.rejects(network.openTo(0, []), { name: 'AddressError' })
    await assert.rejects(network.openTo(1, ['1.2.3.4 }']), { name: 'AddressError' })
  })

  it('are cut off at once when either host does not know the other one any more', async () => {
    for (const machine of [one, two]) {
      const connection = connect(annsFirst, annsSecond.nic.ip)
      assert.ok(await connection.echoes('as long as they are known'))
      await networkOf(machine).tellMesh({ gateways: [], instances: new Map() })
      assert.equal(await connection.echoes('not any more', silenceMs), false)
      await tellAll()
      assert.ok(await connection.heard('not any more'), 'the connection goes on when they are known again')
    }
  })

  it('are known one by one as they come and go, as if all were told anew', async () => {
    const network = networkOf(one)
    const gateways = [three.address]
    const told = new Map<string, string>()
    const tell = async () => await network.tellMesh({ gateways, instances: new Map(told) })
    const local = [annsFirst.nic.ip, bobsFirst.nic.ip]
    await tell()
    for (const [ip, user] of [
      [annsSecond.nic.ip, ann],
      [bobsSecond.nic.ip, bob],
      [annsSecond.nic.ip, bob],
      [bobsSecond.nic.ip, undefined],
      // What is on this host is not known from others.
      [annsFirst.nic.ip, bob],
      [annsFirst.nic.ip, undefined],
      [annsSecond.nic.ip, ann],
    ] as const) {
      if (user === undefined) told.delete(ip)
      else told.set(ip, user)
      await tell()
      const owners = await ownersOf(one)
      assert.deepEqual([...owners.keys()].toSorted(), [...new Set([...local, ...told.keys()])].toSorted())
      assert.notEqual(owners.get(annsFirst.nic.ip), owners.get(bobsFirst.nic.ip))
      const expected = told.get(annsSecond.nic.ip)
      if (expected !== undefined)
        assert.equal(owners.get(annsSecond.nic.ip), owners.get(expected === ann ? local[0]! : local[1]!))
    }
    assert.ok(await connect(annsFirst, annsSecond.nic.ip).echoes('after all changes'))
  })

  it('are known on another host as soon as they are removed here, if they were told of it before', async () => {
    const network = networkOf(one)
    const nic = { ...annsFirst.nic, instanceUuid: bob, ip: addressOf(one, 7), mac: '12:b0:00:00:01:07' }
    await network.attach(nic)
    const instances = new Map([
      [annsSecond.nic.ip, ann],
      [nic.ip, ann],
    ])
    await network.tellMesh({ gateways: [], instances })
    await network.detach(nic)
    for (const again of [false, true]) {
      if (again) await network.tellMesh({ gateways: [], instances })
      const owners = await ownersOf(one)
      assert.notEqual(owners.get(nic.ip), undefined)
      assert.equal(owners.get(nic.ip), owners.get(annsFirst.nic.ip))
    }
  })

  it('keep each other awake, and gateways do not', async () => {
    const counted = async () => (await networkOf(two).peerPackets(annsSecond.nic)) ?? NaN
    const before = await counted()
    assert.ok(await three.connect(annsSecond.nic.ip).echoes('from the gateway'))
    assert.equal(await counted(), before)
    assert.ok(await connect(annsFirst, annsSecond.nic.ip).echoes('from a peer'))
    assert.ok((await counted()) > before)
  })

  it('wake those of their user in standby on another host, and nobody else does', async () => {
    const network = networkOf(two)
    const nic = { ...annsSecond.nic, instanceUuid: ann, ip: addressOf(two, 4), mac: '12:b0:00:00:02:04' }
    const woken: string[] = []
    network.onPeerTraffic(({ ip }) => woken.push(ip))
    await network.attach(nic)
    await network.standBy(nic)
    const instances = new Map([
      [nic.ip, ann],
      [annsSecond.nic.ip, ann],
      [bobsSecond.nic.ip, bob],
    ])
    await networkOf(one).tellMesh({ gateways: [three.address], instances })
    try {
      for (const stranger of [connect(bobsFirst, nic.ip), three.connect(nic.ip), two.connect(nic.ip)])
        assert.ok(await isSilent(stranger))
      assert.deepEqual(woken, [])
      connect(annsFirst, nic.ip).say('wake up')
      await until('the packet is reported', () => woken.length > 0, { limitMs: 30_000 })
      assert.deepEqual(woken, [nic.ip])
    } finally {
      await network.detach(nic)
    }
  })

  it('are known under their next user when an address was given to another one', async () => {
    const network = networkOf(two)
    await network.detach(annsSecond.nic)
    assert.ok(await isSilent(connect(annsFirst, annsSecond.nic.ip)))
    // The list of what is elsewhere may be older than the instance that has the address here now.
    const instances = new Map([
      [annsSecond.nic.ip, ann],
      [bobsFirst.nic.ip, bob],
    ])
    await network.tellMesh({ gateways: [], instances })
    await network.attach({ ...annsSecond.nic, userUuid: bob })
    for (const again of [
      async () => undefined,
      async () => await network.tellMesh({ gateways: [], instances }),
    ]) {
      await again()
      const owners = await ownersOf(two)
      assert.notEqual(owners.get(annsSecond.nic.ip), undefined)
      assert.equal(owners.get(annsSecond.nic.ip), owners.get(bobsFirst.nic.ip))
    }
  })
})
