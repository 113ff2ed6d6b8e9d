import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HostMemory } from '../domain/host/memory-room.ts'
import { kindName } from '../domain/part-name.ts'
import { PlatformPart } from '../domain/platform-part.ts'
import { isAmongHosts } from '../domain/host/private-address.ts'
import type { AgentLog } from '../host/agent/agent-ports.ts'
import { openBootClock, uptimeMs } from '../host/agent/boot-clock.ts'
import { termFileName } from '../host/agent/host-term.ts'
import type { ApiClient } from '../host/agent/api-client.ts'
import { DiskRoom, endlessDisk } from '../host/disk-room.ts'
import type { DiskAdmission, DiskPromise } from '../host/disk-room.ts'
import { PrivateDns } from '../host/dns/private-dns.ts'
import { FakeImages } from '../host/fakes/fake-images.ts'
import type { Images, ImageUse } from '../host/images/images.ts'
import { openRegistryImages } from '../host/images/registry-images.ts'
import { FakeNetwork } from '../host/fakes/fake-network.ts'
import { Commands } from '../host/network/commands.ts'
import type { Network } from '../host/network/network.ts'
import { occupiedSubnets } from '../host/network/occupied-subnets.ts'
import { TapNetwork } from '../host/network/tap-network.ts'
import { UserNetwork } from '../host/network/user-network.ts'
import { FakeVmm } from '../host/fakes/fake-vmm.ts'
import { openQemuVmm } from '../host/vmm/open-qemu-vmm.ts'
import type { Vmm } from '../host/vmm/vmm.ts'
import { FakeVolumes } from '../host/fakes/fake-volumes.ts'
import { FileVolumes } from '../host/volumes/file-volumes.ts'
import type { HeldVolume, VolumeHold, Volumes } from '../host/volumes/volumes.ts'
import { readInstalled, requireInstalled } from '../launch/installed.ts'
import { createRegistryClient } from '../registry/registry-client.ts'
import { createRegistryHttp } from '../registry/registry-http.ts'
import { machineMemoryBytes } from './machine-memory.ts'
import type { Settings } from '../settings/settings.ts'

export interface Drivers {
  readonly vmm: Vmm
  readonly images: Images
  readonly volumes: Volumes
  readonly disk: DiskAdmission & { add(promise: DiskPromise): void }
  /** Opens the clock that goes on while the machine is suspended, in milliseconds. */
  readonly bootClock: () => Promise<() => number>
  /** Ends the work that the drivers do in the background. */
  readonly close: () => Promise<void>
  readonly network: (subnet: string) => ConnectedNetwork
}

export interface ConnectedNetwork {
  readonly network: Network
  /** Absent if instances have no private network. */
  readonly dns?: PrivateDns
  /** The same network, if instances have addresses on this machine. */
  readonly tap?: TapNetwork
}

/** The memory of a fake host. Fake VMs cost nothing, so this is enough for any load test. */
const fakeMemoryMb = 16 * 1024 * 1024

export async function openDrivers(
  settings: Settings,
  api: ApiClient,
  log: AgentLog,
  pinned: () => readonly ImageUse[],
): Promise<Drivers> {
  if (settings.vmm === 'fake') {
    return {
      vmm: new FakeVmm({ memory: { totalMb: fakeMemoryMb, reserveMb: 0, overcommit: 1 } }),
      images: new FakeImages(),
      volumes: new PretendedVolumes(),
      disk: { ...endlessDisk, add: () => undefined },
      bootClock: async () => await Promise.resolve(uptimeMs),
      close: async () => await Promise.resolve(),
      network: () => ({ network: new FakeNetwork() }),
    }
  }
  const disk = new DiskRoom()
  const images = await openRegistryImages({
    disk,
    directory: join(settings.agentDir, 'images'),
    pinned,
    unpackProgram: join(import.meta.dirname, 'unpack.ts'),
    onProblem: (message) => {
      log.warn({}, message)
    },
    client: createRegistryClient(
      createRegistryHttp({
        url: required(settings.registryUrl, 'ROOST_REGISTRY_URL'),
        ...(settings.identityDir !== undefined && {
          through: { connect: api.connect, host: kindName(PlatformPart.Api) },
        }),
        token: async (repository) => await api.registryToken(repository),
      }),
    ),
  })
  const network = await chooseNetwork(settings, api, log)
  const volumes = await FileVolumes.open({
    disk,
    directory: join(settings.agentDir, 'volumes'),
    onProblem: (message) => {
      log.warn({}, message)
    },
  })
  return {
    vmm: await openQemu(settings, log),
    images,
    volumes,
    disk,
    bootClock: async () =>
      await openBootClock(join(requireInstalled(readInstalled(), 'guestDirectory'), 'keeper')),
    close: async () => {
      await Promise.all([images.close(), volumes.close()])
    },
    network,
  }
}

/**
 * Fake volumes are in memory, like fake VMs, so a new agent knows none of those that an earlier agent made.
 * An instance that needs such a volume finds it made.
 */
class PretendedVolumes extends FakeVolumes {
  override async hold(hold: VolumeHold, signal?: AbortSignal): Promise<HeldVolume> {
    await this.make({ uuid: hold.uuid, sizeMb: 0 }, signal)
    return await super.hold(hold, signal)
  }
}

function hostMemory({ memoryReserveMb, memoryOvercommit }: Settings): HostMemory {
  return {
    totalMb: Math.floor(machineMemoryBytes() / 1024 / 1024),
    reserveMb: memoryReserveMb,
    overcommit: memoryOvercommit,
  }
}

async function openQemu(settings: Settings, log: AgentLog): Promise<Vmm> {
  const installed = readInstalled()
  return await openQemuVmm({
    instancesDirectory: join(settings.agentDir, 'instances'),
    guestDirectory: requireInstalled(installed, 'guestDirectory'),
    // The cache holds the verdict on KVM. The verdict is about the machine, so all its agents share it.
    cacheDirectory: settings.cacheDir,
    termPath: join(settings.agentDir, termFileName),
    templateDirectory: join(settings.agentDir, 'templates'),
    acceleration: settings.accel,
    memory: hostMemory(settings),
    onProblem: (message) => {
      log.warn({}, message)
    },
    ...(installed.qemu === undefined ? {} : { qemuPath: installed.qemu }),
  })
}

async function chooseNetwork(
  settings: Settings,
  api: ApiClient,
  log: AgentLog,
): Promise<(subnet: string) => ConnectedNetwork> {
  const directory = settings.agentDir
  const isRoot = process.getuid?.() === 0
  const warn = (message: string): void => log.warn({}, message)
  const bandwidth = settings.vmBandwidthMbit === undefined ? {} : { bandwidthMbit: settings.vmBandwidthMbit }
  const options = { directory, outbound: settings.vmEgress, ...bandwidth, warn }
  if (!isRoot) return () => ({ network: new UserNetwork(options) })
  const guestDirectory = requireInstalled(readInstalled(), 'guestDirectory')
  const nameserver = settings.vmEgress ? await hostNameserver() : undefined
  return (subnet) => {
    const network = new TapNetwork({
      ...options,
      subnet,
      peerWatchPath: join(guestDirectory, 'peer-watch'),
    })
    const dns = new PrivateDns({
      network,
      file: join(directory, 'names.json'),
      ask: (since) => api.namesRequest(since),
      connect: api.connect,
      onChange: (change) => log.info(change, 'the connection that tells the names of instances'),
      warn,
      ...(nameserver === undefined ? {} : { nameserver }),
    })
    return { network, dns, tap: network }
  }
}

/**
 * The networks that this host can not get, because other interfaces of the machine have addresses in them.
 * Only root's instances have addresses on the machine.
 */
export async function subnetsInUse({ vmm, agentDir }: Settings): Promise<readonly string[]> {
  if (vmm === 'fake' || process.getuid?.() !== 0) return []
  const occupied = await occupiedSubnets(new Commands(), agentDir)
  return [...new Set(occupied.map(({ subnet }) => subnet).filter(isAmongHosts))]
}

/**
 * The server that is asked for names outside the platform: the host's own nameserver. It may listen on the
 * host's loopback only, because the questions are sent from the host.
 */
async function hostNameserver(): Promise<string | undefined> {
  const text = await readFile('/etc/resolv.conf', 'utf8').catch(() => '')
  return /^nameserver\s+(\d+\.\d+\.\d+\.\d+)\s*$/m.exec(text)?.[1]
}

function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new Error(`${name} must be set for the agent`)
  return value
}
