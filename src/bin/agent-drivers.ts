import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { totalmem } from 'node:os'
import type { AgentLog } from '../host/agent/agent-ports.ts'
import type { ApiClient } from '../host/agent/api-client.ts'
import { FakeImages } from '../host/images/fake-images.ts'
import type { Images } from '../host/images/images.ts'
import { openRegistryImages } from '../host/images/registry-images.ts'
import { FakeNetwork } from '../host/network/fake-network.ts'
import type { Network } from '../host/network/network.ts'
import { TapNetwork } from '../host/network/tap-network.ts'
import { UserNetwork } from '../host/network/user-network.ts'
import { FakeVmm } from '../host/vmm/fake-vmm.ts'
import { openQemuVmm } from '../host/vmm/open-qemu-vmm.ts'
import type { Vmm } from '../host/vmm/vmm.ts'
import { readInstalled, requireInstalled } from '../launch/installed.ts'
import { createRegistryClient } from '../registry/registry-client.ts'
import { createRegistryHttp } from '../registry/registry-http.ts'
import type { Settings } from './settings.ts'

export interface Drivers {
  readonly vmm: Vmm
  readonly images: Images
  readonly network: (subnet: string) => Network
  /** What the API may place here. */
  readonly memoryMb: number
}

/** Pretended VMs cost nothing: enough for any load test. */
const fakeMemoryMb = 16 * 1024 * 1024
/** Left to the host and the parts of the stack on it. */
const reservedMemoryMb = 1_024

export async function openDrivers(settings: Settings, api: ApiClient, log: AgentLog): Promise<Drivers> {
  if (settings.vmm === 'fake') {
    return {
      vmm: new FakeVmm(),
      images: new FakeImages(),
      network: () => new FakeNetwork(),
      memoryMb: fakeMemoryMb,
    }
  }
  const images = await openRegistryImages({
    directory: join(settings.agentDir, 'images'),
    client: createRegistryClient(
      createRegistryHttp({
        url: required(settings.registryUrl, 'ROOST_REGISTRY_URL'),
        token: async (repository) => await api.registryToken(repository),
      }),
    ),
  })
  const network = await chooseNetwork(settings, log)
  return { vmm: await openQemu(settings, log), images, network, memoryMb: hostMemoryMb() }
}

function hostMemoryMb(): number {
  return Math.max(0, Math.floor(totalmem() / 1024 / 1024) - reservedMemoryMb)
}

async function openQemu(settings: Settings, log: AgentLog): Promise<Vmm> {
  const installed = readInstalled()
  return await openQemuVmm({
    instancesDirectory: join(settings.agentDir, 'instances'),
    guestDirectory: requireInstalled(installed, 'guestDirectory'),
    // The verdict on KVM is the machine's, not this agent's.
    cacheDirectory: settings.cacheDir,
    templateDirectory: join(settings.agentDir, 'templates'),
    acceleration: settings.accel,
    onProblem: (message) => {
      log.warn({}, message)
    },
    ...(installed.qemu === undefined ? {} : { qemuPath: installed.qemu }),
  })
}

async function chooseNetwork(settings: Settings, log: AgentLog): Promise<(subnet: string) => Network> {
  const directory = settings.agentDir
  const isRoot = process.getuid?.() === 0
  if (!isRoot) return () => new UserNetwork({ directory, outbound: settings.vmEgress })
  const nameserver = settings.vmEgress ? await hostNameserver() : undefined
  return (subnet) =>
    new TapNetwork({
      directory,
      subnet,
      ...(nameserver === undefined ? {} : { outbound: { nameserver } }),
      warn: (message) => {
        log.warn({}, message)
      },
    })
}

/** Where instances ask for names: the host's own server, behind a local resolver too; else none but themselves know. */
const resolverFiles = ['/run/systemd/resolve/resolv.conf', '/etc/resolv.conf'] as const
/** Answers on the Internet, for a host whose only resolver is on its own loopback. */
const publicNameserver = '9.9.9.9'

async function hostNameserver(): Promise<string> {
  for (const file of resolverFiles) {
    const text = await readFile(file, 'utf8').catch(() => '')
    const found = [...text.matchAll(/^nameserver\s+(\d+\.\d+\.\d+\.\d+)\s*$/gm)].map((match) => match[1])
    const usable = found.find((address) => address !== undefined && !address.startsWith('127.'))
    if (usable !== undefined) return usable
  }
  return publicNameserver
}

function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new Error(`${name} must be set for the agent`)
  return value
}
