import { constants } from 'node:fs'
import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { buildCommandLine, firstFileFd, keeperFd, kvmCpu, platformKernelArguments } from './command-line.ts'
import type { GuestAssets } from './guest-assets.ts'
import type { HostFacts } from './host-facts.ts'
import { startTransientMachine } from './transient-machine.ts'
import { transientOwner } from './vm-owner.ts'
import type { VmOwner } from './vm-owner.ts'

/**
 * Whether KVM really runs guests here. That `/dev/kvm` can be opened proves nothing: under nested
 * virtualisation a guest may hang or fail on the first instruction that Linux uses and a small test program
 * does not. So two guests run in the jail of a VM: first a program of our own, which does what every kernel
 * does at its start, then the platform's kernel itself.
 */
export interface KvmVerdict {
  readonly usable: boolean
  /** Why KVM can or can not be used, for a person. */
  readonly reason: string
}

const probeLimitMs = 2_000
const kernelLimitMs = 5_000
const probeMemoryMb = 32
const kernelMemoryMb = 128
/** `guest/probe/probe.S` writes 32 to the debug port; QEMU's exit status is twice that plus one. */
const probePassedCode = 65

/**
 * Probes KVM, or returns the verdict kept in `cacheDirectory`. A verdict holds for one boot of the host, one
 * version of QEMU and of the guest, and for an agent with or without root.
 */
export async function kvmVerdict(
  facts: HostFacts,
  assets: GuestAssets,
  cacheDirectory: string,
): Promise<KvmVerdict> {
  const cachePath = path.join(cacheDirectory, 'kvm-verdict.json')
  const key = `${facts.bootId} ${facts.qemuVersion} ${assets.guestHash} ${facts.isRoot}`
  const known = await readCached(cachePath)
  if (known?.key === key) return known.verdict
  const verdict = await probeKvm(facts, assets)
  await mkdir(cacheDirectory, { recursive: true })
  await writeFile(cachePath, JSON.stringify({ key, verdict }))
  return verdict
}

async function probeKvm(facts: HostFacts, assets: GuestAssets): Promise<KvmVerdict> {
  try {
    await access('/dev/kvm', constants.R_OK | constants.W_OK)
  } catch (error) {
    return {
      usable: false,
      reason: `/dev/kvm can not be opened: ${(error as NodeJS.ErrnoException).code ?? 'error'}`,
    }
  }
  const owner = await transientOwner({ isRoot: facts.isRoot, accelerator: 'kvm' })
  const program = await runProbeProgram(facts, assets, owner)
  if (program !== undefined) return { usable: false, reason: program }
  const kernel = await runKernel(facts, assets, owner)
  if (kernel !== undefined) return { usable: false, reason: kernel }
  return { usable: true, reason: 'a test program and the kernel ran' }
}

/** Returns undefined if the program passed, else what went wrong. */
async function runProbeProgram(
  facts: HostFacts,
  assets: GuestAssets,
  owner: VmOwner | undefined,
): Promise<string | undefined> {
  const machine = await startTransientMachine({
    keeperPath: assets.keeperPath,
    memoryMb: probeMemoryMb,
    owner,
    command: [
      facts.qemuPath,
      '-M',
      'microvm',
      '-accel',
      'kvm',
      '-cpu',
      kvmCpu,
      '-m',
      `${probeMemoryMb}`,
      '-nodefaults',
      '-no-user-config',
      '-display',
      'none',
      '-no-reboot',
      '-kernel',
      `/dev/fd/${firstFileFd}`,
      '-chardev',
      `socket,id=mon,fd=${keeperFd.monitor}`,
      '-mon',
      'chardev=mon,mode=control',
      '-device',
      'isa-debug-exit,iobase=0xf4,iosize=4',
    ],
    files: [{ path: assets.kvmProbePath, flags: 'r' }],
  })
  const failed = new Promise<string>((resolve) => {
    // STOP means that the accelerator gave up. The VMM would then wait for ever.
    machine.monitor.on('event', (name) => {
      if (name === 'STOP') resolve('the test program made KVM fail')
    })
    setTimeout(() => resolve('the test program did not end'), probeLimitMs).unref()
  })
  machine.monitor.negotiate().catch(() => undefined)
  const passed = machine.exited.then((code) =>
    code === probePassedCode ? undefined : ending(code, machine.complaint),
  )
  const result = await Promise.race([passed, failed])
  await machine.kill()
  return result
}

/**
 * The complaint belongs to the reason: VMs do not run as root, and the complaint says so if only root may
 * open `/dev/kvm`.
 */
function ending(code: number | undefined, complaint: string): string {
  return `for a test program QEMU ended with status ${code ?? 'none'}${complaint && `: ${complaint}`}`
}

/**
 * Boots the platform's kernel with our init up to `ready`. Returns undefined if it got there, else what went
 * wrong.
 */
async function runKernel(
  facts: HostFacts,
  assets: GuestAssets,
  owner: VmOwner | undefined,
): Promise<string | undefined> {
  const machine = await startTransientMachine({
    keeperPath: assets.keeperPath,
    memoryMb: kernelMemoryMb,
    owner,
    command: buildCommandLine({
      qemuPath: facts.qemuPath,
      accelerator: 'kvm',
      memoryMb: kernelMemoryMb,
      vcpus: 1,
      kernel: {
        kernelFd: firstFileFd,
        initrdFd: firstFileFd + 1,
        commandLine: platformKernelArguments('kvm', facts.tscKhz),
      },
    }),
    files: [
      { path: assets.kernelPath, flags: 'r' },
      { path: assets.initrdPath, flags: 'r' },
    ],
  })
  try {
    await machine.line('ready', AbortSignal.timeout(kernelLimitMs))
    return undefined
  } catch {
    return `the kernel did not come up within ${kernelLimitMs} ms`
  } finally {
    await machine.kill()
  }
}

async function readCached(file: string): Promise<{ key: string; verdict: KvmVerdict } | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as { key: string; verdict: KvmVerdict }
  } catch {
    return undefined
  }
}
