import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import {
  buildCommandLine,
  firstFileFd,
  keeperFd,
  platformKernelArguments,
} from '../src/host/vmm/command-line.ts'
import { encodeGuestConfig } from '../src/host/vmm/guest-config.ts'
import type { GuestAssets } from '../src/host/vmm/guest-assets.ts'
import type { HostFacts } from '../src/host/vmm/host-facts.ts'
import type { GuestProcess } from '../src/host/vmm/vmm.ts'

export interface HandStart {
  readonly facts: HostFacts
  readonly assets: GuestAssets
  readonly accelerator: 'kvm' | 'tcg'
  readonly memoryMb: number
  readonly rootfsPath: string
  readonly process: GuestProcess
}

const startLimitMs = 60_000

/** Nobody is reached through it: the device is there because it is there in a real start. */
const nowhere = {
  kind: 'user',
  ip: '10.0.2.15',
  prefixLength: 24,
  gateway: '10.0.2.2',
  nameserver: '10.0.2.3',
  mac: '12:b0:00:00:00:01',
  outbound: false,
  forwards: [],
} as const

/**
 * The yardstick: the same kernel, image and machine started with QEMU alone, by nothing but this function. Resolves with
 * the milliseconds from the start of the process until the application was entered, and ends the VM.
 */
export async function startByHand(start: HandStart): Promise<number> {
  const files = [start.assets.kernelPath, start.assets.initrdPath, start.rootfsPath].map((file) =>
    openSync(file, 'r'),
  )
  const [program = '', ...args] = buildCommandLine({
    qemuPath: start.facts.qemuPath,
    accelerator: start.accelerator,
    memoryMb: start.memoryMb,
    vcpus: 1,
    kernel: {
      kernelFd: firstFileFd,
      initrdFd: firstFileFd + 1,
      commandLine: platformKernelArguments(start.accelerator, start.facts.tscKhz),
    },
    rootDiskFd: firstFileFd + 2,
    attachment: nowhere,
  })
  const stdio = Array.from({ length: keeperFd.monitor + 1 }, (_, fd) => {
    if (fd < firstFileFd) return 'ignore' as const
    return files[fd - firstFileFd] ?? (fd >= keeperFd.console ? ('pipe' as const) : ('ignore' as const))
  })
  const startedMs = performance.now()
  const child = spawn(program, args, { stdio })
  for (const file of files) closeSync(file)
  const channels: readonly unknown[] = child.stdio
  for (const fd of [keeperFd.console, keeperFd.log, keeperFd.monitor]) (channels[fd] as Duplex).resume()
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  try {
    await entered(channels[keeperFd.control] as Duplex, start.process)
    return performance.now() - startedMs
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

/** Speaks the guest's control protocol as far as a start needs it. */
function entered(control: Duplex, guestProcess: GuestProcess): Promise<void> {
  const config = encodeGuestConfig(guestProcess, nowhere)
  if (config === undefined) throw new Error('the configuration can not be encoded')
  control.write(Buffer.concat([Buffer.from(`config ${config.length}\n`), config]))
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the guest did not start')), startLimitMs)
    let text = ''
    control.on('error', () => undefined)
    control.on('close', () => reject(new Error(`the VM ended before its application: ${text}`)))
    control.on('data', (part: Buffer) => {
      text += part.toString('utf8')
      if (text.includes('time?\n')) {
        text = text.replace('time?\n', '')
        control.write(`time ${BigInt(Date.now()) * 1_000_000n}\n`)
      }
      if (!/^app \d+\n/m.test(text)) return
      clearTimeout(timer)
      resolve()
    })
  })
}
