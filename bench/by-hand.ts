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

/** A network device that is connected to nothing. It exists because a real start has a network device. */
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
 * The yardstick: starts the same kernel, image and machine with QEMU alone. Resolves with the milliseconds
 * from the start of the process to the start of the application, and ends the VM.
 */
export async function startByHand(start: HandStart): Promise<number> {
  const startedMs = performance.now()
  const machine = beginByHand(start)
  try {
    await entered(machine.control, encoded(start.process))
    return performance.now() - startedMs
  } finally {
    await machine.end()
  }
}

/**
 * Does the same with a file as the volume at `/data`, without any bounds. Resolves with the application's
 * first line that matches `wanted`.
 */
export async function runByHand(start: HandStart, volumePath: string, wanted: RegExp): Promise<string> {
  const machine = beginByHand(start, volumePath)
  try {
    const line = said(machine.log, wanted)
    await entered(machine.control, encoded(start.process, { at: '/data', readonly: false }))
    return await line
  } finally {
    await machine.end()
  }
}

interface HandMachine {
  readonly control: Duplex
  readonly log: Duplex
  end(): Promise<void>
}

/** The arguments for the volume: those of the product's own command line, without the bounds. */
const plainVolume = (fd: number): readonly string[] => [
  '-add-fd',
  `fd=${fd},set=1`,
  '-blockdev',
  'driver=file,node-name=volume,filename=/dev/fdset/1,discard=unmap,read-only=off',
  '-device',
  'virtio-blk-device,drive=volume,serial=volume',
]

function beginByHand(start: HandStart, volumePath?: string): HandMachine {
  const paths = [start.assets.kernelPath, start.assets.initrdPath, start.rootfsPath]
  const files = paths.map((file) => openSync(file, 'r'))
  if (volumePath !== undefined) files.push(openSync(volumePath, 'r+'))
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
  }).map(withoutExec)
  if (volumePath !== undefined) args.push(...plainVolume(firstFileFd + paths.length))
  const stdio = Array.from({ length: keeperFd.monitor + 1 }, (_, fd) => {
    // QEMU's error messages are shown on the terminal of the person who measures.
    if (fd < firstFileFd) return fd === 2 ? ('inherit' as const) : ('ignore' as const)
    return files[fd - firstFileFd] ?? (fd >= keeperFd.console ? ('pipe' as const) : ('ignore' as const))
  })
  const child = spawn(program, args, { stdio })
  for (const file of files) closeSync(file)
  const channels = child.stdio as unknown as readonly Duplex[]
  for (const fd of [keeperFd.console, keeperFd.log, keeperFd.monitor])
    channels[fd]?.resume().on('error', () => undefined)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const channel = (fd: number): Duplex => {
    const found = channels[fd]
    if (found === undefined) throw new Error(`there is no channel ${fd}`)
    return found
  }
  return {
    control: channel(keeperFd.control),
    log: channel(keeperFd.log),
    async end() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Nobody runs programs in this guest, so its port for them leads nowhere, as that of a template. */
export function withoutExec(argument: string): string {
  return argument.startsWith('socket,id=exec,') ? 'null,id=exec' : argument
}

function said(log: Duplex, wanted: RegExp): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    log.on('data', (part: Buffer) => {
      text += part.toString('utf8')
      const line = text.split('\n').find((each) => wanted.test(each))
      if (line !== undefined) resolve(line)
    })
  })
}

function encoded(process: GuestProcess, volume?: Parameters<typeof encodeGuestConfig>[2]): Buffer {
  const config = encodeGuestConfig(process, nowhere, volume)
  if (config === undefined) throw new Error('the configuration can not be encoded')
  return config
}

/**
 * Handles the part of the guest's control protocol that a start needs. Resolves when the application has
 * started.
 */
function entered(control: Duplex, config: Buffer): Promise<void> {
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
