import assert from 'node:assert/strict'
import { mkdir, readdir } from 'node:fs/promises'
import path from 'node:path'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import type { LaunchSpec, VolumePlace } from '../../../src/domain/host/api-protocol.ts'
import type { AgentPorts } from '../../../src/host/agent/agent-ports.ts'
import { HostAgent } from '../../../src/host/agent/host-agent.ts'
import { HostStartError } from '../../../src/host/instance/host-start-error.ts'
import { recover } from '../../../src/host/agent/recovery.ts'
import { readConsole } from '../../../src/host/console/console-reader.ts'
import { DiskRoom } from '../../../src/host/disk-room.ts'
import { FakeImages } from '../../../src/host/fakes/fake-images.ts'
import { FakeNetwork } from '../../../src/host/fakes/fake-network.ts'
import { InstanceStore } from '../../../src/host/instance/store.ts'
import { HttpTransfers } from '../../../src/host/moves/http-transfers.ts'
import { FileVolumes } from '../../../src/host/volumes/file-volumes.ts'
import { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import { until } from '../../support/until.ts'
import { openQemuBench } from '../vmm/qemu-bench.ts'
import type { QemuBench } from '../vmm/qemu-bench.ts'

const uuid = '00000000-0000-4000-8000-000000000001'
const instance = { instanceUuid: uuid }
const slept = { ...instance, boot: 1, permit: 2 }
const oldPlace = { nodeId: 'old', address: '127.0.0.2' }
const newPlace = { nodeId: 'new', address: '127.0.0.3' }
const consoleMaxBytes = 65_536
const soonMs = 120_000
const counting = 'i=0; while :; do i=$((i+1)); echo count $i; sleep 0.2; done'
const volume = { uuid: '00000000-0000-4000-8000-00000000000f', sizeMb: 256 }
const writing = 'i=0; while :; do i=$((i+1)); echo $i >> /data/count; echo count $i; sleep 0.2; done'
const spec: LaunchSpec = {
  uuid,
  name: 'mover',
  userUuid: '00000000-0000-4000-8000-00000000000a',
  image: `user/app@sha256:${'0'.repeat(64)}`,
  memoryMb: 128,
  vcpus: 1,
  args: ['sh', '-c', counting],
  env: {},
  privateIp: '10.64.0.2',
  mac: '12:b0:0a:40:00:02',
  scaleToZero: { policy: 'idle', cooldownMs: 1_000, stateful: true },
}

/** One of two hosts with real VMs. The test says which of them the row names. */
class TestHost {
  spec: LaunchSpec | undefined
  readonly infos: [object, string][] = []
  readonly ports: AgentPorts
  readonly agent: HostAgent

  readonly volumes: FileVolumes

  constructor(
    directory: string,
    { address, volumes }: { readonly address: string; readonly volumes: FileVolumes },
    { context, rootfsPath }: QemuBench,
  ) {
    this.volumes = volumes
    const quiet = () => undefined
    const log = { info: (...line: [object, string]) => this.infos.push(line), warn: quiet, error: quiet }
    const network = new FakeNetwork()
    this.ports = {
      vmm: new QemuVmm({ instancesDirectory: path.join(directory, 'instances'), ...context }),
      network,
      images: new FakeImages({ rootfsPath }),
      volumes,
      volumeEvents: { tell: async () => await Promise.resolve('taken') },
      launches: {
        launchSpec: async () => await this.#launchSpec(),
        placeOfVolume: async () => await this.#placeOfVolume(),
      },
      store: new InstanceStore(directory),
      disk: new DiskRoom({ reserveMb: 0 }),
      transfers: new HttpTransfers({ address, network, log }),
      observer: {
        started: quiet,
        waited: quiet,
        startFailed: quiet,
        ended: quiet,
        woke: quiet,
        wakeFailed: quiet,
        slept: quiet,
        standByRefused: quiet,
        stalled: quiet,
      },
      log,
      nowMs: Date.now,
      hostBootId: context.facts.bootId,
    }
    this.agent = new HostAgent(this.ports)
  }

  async #launchSpec(): Promise<LaunchSpec> {
    if (this.spec === undefined) throw new HostStartError('UnknownInstance', 'it is not placed here')
    return await Promise.resolve(this.spec)
  }

  async #placeOfVolume(): Promise<VolumePlace> {
    return await Promise.resolve(this.spec === undefined ? 'elsewhere' : 'here')
  }

  /** The numbers that the application has printed. */
  async counts(): Promise<readonly number[]> {
    return await this.printed(/count (\d+)/g)
  }

  async printed(pattern: RegExp): Promise<readonly number[]> {
    const { outputBase64 } = await readConsole(this.ports.store.consoleDirectory(uuid), {
      offset: 0,
      limit: consoleMaxBytes,
    })
    const text = Buffer.from(outputBase64, 'base64').toString()
    return [...text.matchAll(pattern)].map(([, count]) => Number(count))
  }

  async close(): Promise<void> {
    await this.agent.remove(instance)
    await this.ports.transfers?.close()
    await this.volumes.close()
    await this.ports.vmm.close()
  }
}

describe('a virtual machine that moves', function () {
  this.timeout(300_000)
  let bench: QemuBench
  let hosts: TestHost[] = []

  before(async () => {
    bench = await openQemuBench()
  })
  afterEach(async () => {
    for (const host of hosts) await host.close()
    hosts = []
  })
  after(async () => {
    await bench.close()
  })

  async function open(name: string, address: string): Promise<TestHost> {
    const directory = path.join(bench.directory, name)
    await mkdir(directory)
    const volumes = await FileVolumes.open({ directory: path.join(directory, 'volumes'), reserveMb: 0 })
    const host = new TestHost(directory, { address, volumes }, bench)
    hosts.push(host)
    await recover({ agent: host.agent, ports: host.ports, haltedAtMs: undefined })
    return host
  }

  it('goes on at the new host where it stood still at the old one, with its log', async () => {
    const [from, to] = [await open('old', oldPlace.address), await open('new', newPlace.address)]
    from.spec = spec
    await from.agent.start({ ...instance, boot: 1 })
    await until('it counts', async () => (await from.counts()).length > 5, { limitMs: soonMs })
    const order = { ...slept, epoch: 1, stateful: true, graceMs: 0, drainMs: 0, hold: newPlace }
    assert.equal((await from.agent.standBy(order)).slept, true)
    const before = await from.counts()
    const held = await from.agent.moves.hold({ ...slept, to: newPlace })
    assert.ok(held.held)
    const fetched = await to.agent.moves.fetch({ ...slept, from: { ...oldPlace, port: held.port } })
    assert.deepEqual(fetched, { memory: 'kept' })
    const [told] = to.infos.find(([, message]) => message === 'an instance was fetched') ?? []
    const { bytes, compressedBytes } = told as { bytes: number; compressedBytes: number }
    assert.ok(compressedBytes < bytes / 2, `${compressedBytes} of ${bytes}`)
    to.spec = { ...spec, seatIp: '10.64.16.9' }
    from.spec = undefined
    const { started } = await to.agent.start({ ...instance, boot: 2 })
    assert.equal(started.kind, StartKind.Restore)
    const counts = await until(
      'it counts on',
      async () => {
        const all = await to.counts()
        return all.length > before.length + 3 ? all : undefined
      },
      { limitMs: soonMs },
    )
    assert.deepEqual(
      counts,
      counts.map((_, index) => index + 1),
    )
    await until('the old host has nothing', () => !from.agent.entries.has(uuid), { limitMs: soonMs })
    assert.deepEqual(await from.ports.vmm.recover(), [])
  })

  it('goes on with its volume mounted, and all that it wrote is there after its next boot', async () => {
    const [from, to] = [await open('old-disk', oldPlace.address), await open('new-disk', newPlace.address)]
    const args = ['sh', '-c', `echo found $(cat /data/count 2>/dev/null | wc -l); ${writing}`]
    const launched = { ...spec, args, volume: { ...volume, made: true, at: '/data', readonly: false } }
    await from.volumes.make(volume)
    from.spec = launched
    await from.agent.start({ ...instance, boot: 1 })
    await until('it counts', async () => (await from.counts()).length > 5, { limitMs: soonMs })
    const hold = { hold: newPlace, volume }
    const order = { ...slept, epoch: 1, stateful: true, graceMs: 0, drainMs: 0, ...hold }
    assert.equal((await from.agent.standBy(order)).slept, true)
    const before = await from.counts()
    const held = await from.agent.moves.hold({ ...slept, to: newPlace, volume })
    assert.ok(held.held)
    const place = { ...oldPlace, port: held.port }
    const fetched = await to.agent.moves.fetch({ ...slept, from: place, volume })
    assert.deepEqual(fetched, { memory: 'kept', volumeUuid: volume.uuid })
    const [told] = to.infos.find(([, message]) => message === 'a volume was fetched') ?? []
    const { bytes, compressedBytes } = told as { bytes: number; compressedBytes: number }
    assert.ok(compressedBytes < bytes / 10, `${compressedBytes} of ${bytes}`)
    to.spec = { ...launched, seatIp: '10.64.16.9' }
    from.spec = undefined
    const { started } = await to.agent.start({ ...instance, boot: 2 })
    assert.equal(started.kind, StartKind.Restore)
    const goesOn = async () => (await to.counts()).length > before.length + 3
    await until('it counts on', goesOn, { limitMs: soonMs })
    const left = async () => (await readdir(path.join(bench.directory, 'old-disk', 'volumes'))).length === 0
    await until('the old host has overwritten it', left, { limitMs: soonMs })
    await to.agent.stop({ ...instance, boot: 2, forced: false, graceMs: 10_000 })
    const counted = await to.counts()
    await to.agent.start({ ...instance, boot: 3 })
    const found = await until(
      'it says what it found',
      async () => {
        const all = await to.printed(/found (\d+)/g)
        return all.length > 1 ? all : undefined
      },
      { limitMs: soonMs },
    )
    assert.equal(found[0], 0)
    assert.ok((found[1] ?? 0) >= counted.length, `${found[1]} of ${counted.length}`)
  })

  it('that is stopped finds at the new host what it wrote at the old one', async () => {
    const [from, to] = [await open('old-stop', oldPlace.address), await open('new-stop', newPlace.address)]
    const args = [
      'sh',
      '-c',
      'echo found $(cat /data/count 2>/dev/null | wc -l); echo line >> /data/count; sync',
    ]
    const launched = { ...spec, args, volume: { ...volume, made: true, at: '/data', readonly: false } }
    await from.volumes.make(volume)
    from.spec = launched
    const ends = async (host: TestHost, boot: number) => {
      await host.agent.start({ ...instance, boot })
      await until('it ends', () => host.agent.entries.get(uuid)?.record?.exit?.boot === boot, {
        limitMs: soonMs,
      })
    }
    await ends(from, 1)
    const held = await from.agent.moves.hold({ ...instance, boot: 1, to: newPlace, volume })
    assert.ok(held.held)
    const place = { ...oldPlace, port: held.port }
    await to.agent.moves.fetch({ ...instance, boot: 1, from: place, volume })
    to.spec = launched
    from.spec = undefined
    await to.agent.moves.take(instance)
    await until('the old host has nothing', () => !from.agent.entries.has(uuid), { limitMs: soonMs })
    await ends(to, 2)
    assert.deepEqual(await to.printed(/found (\d+)/g), [0, 1])
  })
})
