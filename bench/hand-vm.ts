import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, createWriteStream, openSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import {
  buildCommandLine,
  firstFileFd,
  keeperFd,
  platformKernelArguments,
  tapFd,
} from '../src/host/vmm/command-line.ts'
import type { Machine } from '../src/host/vmm/command-line.ts'
import { encodeGuestConfig } from '../src/host/vmm/guest-config.ts'
import { withoutExec } from './by-hand.ts'
import type { HandStart } from './by-hand.ts'

/** A TAP device of the benchmark's own, which only the VM by hand uses. */
const place = {
  kind: 'tap',
  interfaceName: 'roost-hand',
  ownerUid: 0,
  ip: '10.127.255.2',
  prefixLength: 24,
  gateway: '10.127.255.1',
  nameserver: '10.127.255.1',
  mac: '12:b0:00:00:00:01',
} as const
const guestPort = 8_080

/** Prepares the network, as a person would do before the first start. It serves all starts. */
export function prepareHandNetwork(): void {
  const lines = [
    `tuntap add ${place.interfaceName} mode tap`,
    `addr add ${place.gateway}/${place.prefixLength} dev ${place.interfaceName}`,
    `link set ${place.interfaceName} up`,
    `neigh replace ${place.ip} lladdr ${place.mac} dev ${place.interfaceName} nud permanent`,
  ]
  execFileSync('ip', ['-batch', '-'], { input: lines.join('\n') })
}

export function removeHandNetwork(): void {
  execFileSync('ip', ['link', 'del', place.interfaceName])
}

const answerLimitMs = 60_000
const pollMs = 2
const standardErrorFd = 2
/** As many as the keeper gives to a guest. */
const entropyBytes = 64
/**
 * The most bytes per second that are written of a snapshot. It is so high that only the disk limits the
 * speed.
 */
const maxBandwidth = 2 ** 34

/** The state from which a VM goes on instead of a boot. */
export type HandSource =
  | { readonly kind: 'snapshot'; readonly statePath: string }
  | { readonly kind: 'template'; readonly statePath: string; readonly ramPath: string }

/**
 * The yardstick of a wake: QEMU alone with the same kernel, image and machine. The time is from the start of
 * the process to the application's first answer over HTTP. The VM boots, or goes on from a snapshot that was
 * taken by hand, or from a guest that was frozen before it had an application.
 */
export class HandVm {
  readonly #source: HandSource | undefined
  readonly #child: ChildProcess
  readonly #channels: readonly Duplex[]
  readonly #ended: Promise<unknown>
  readonly #entered: Promise<void>

  constructor(start: HandStart, source?: HandSource) {
    this.#source = source
    const { command, files } = planOf(start, source)
    const descriptors = files.map(({ path, flags }) => openSync(path, flags))
    const [program = '', ...args] = command.map(opensItsDevice).map(withoutExec)
    const stdio = Array.from<unknown, 'ignore' | 'pipe' | 'inherit' | number>(
      { length: keeperFd.monitor + 1 },
      (_, fd) => {
        if (fd < firstFileFd) return 'ignore' as const
        return (
          descriptors[fd - firstFileFd] ?? (fd >= keeperFd.console ? ('pipe' as const) : ('ignore' as const))
        )
      },
    )
    stdio[standardErrorFd] = 'inherit'
    this.#child = spawn(program, args, { stdio })
    for (const descriptor of descriptors) closeSync(descriptor)
    this.#channels = this.#child.stdio as unknown as readonly Duplex[]
    for (const fd of Object.values(keeperFd)) this.#channels[fd]?.on('error', () => undefined)
    for (const fd of [keeperFd.console, keeperFd.log]) this.#channels[fd]?.resume()
    this.#ended = once(this.#child, 'exit')
    this.#entered = Promise.race([this.#converse(start), this.#endedEarly()])
    this.#entered.catch(() => undefined)
  }

  /**
   * Resolves with the first answer of the application. With `greets`, a guest that slept is first given the
   * time and random bytes, as the platform does before it lets a request in.
   */
  async answered({ greets = false } = {}): Promise<void> {
    if (this.#source !== undefined) await this.#continue(this.#source)
    if (greets) await this.#greet()
    // While the guest has no address yet, a packet to it is lost, and is repeated only after a second.
    if (this.#source?.kind !== 'snapshot') await this.#entered
    const deadlineMs = Date.now() + answerLimitMs
    while (Date.now() < deadlineMs && this.#child.exitCode === null) {
      if (await answers()) return
      await delay(pollMs)
    }
    throw new Error('the VM by hand did not answer')
  }

  async #greet(): Promise<void> {
    const control = this.#channels[keeperFd.control]
    if (control === undefined) throw new Error('no control channel')
    let text = ''
    const awake = new Promise<void>((resolve) => {
      control.on('data', (part: Buffer) => {
        text += part.toString('utf8')
        if (text.includes('awake\n')) resolve()
      })
    })
    control.write(`${timeLine()}entropy ${randomBytes(entropyBytes).toString('hex')}\nawake\n`)
    await Promise.race([awake, this.#endedEarly()])
  }

  /** Lets the VM run as soon as its state is loaded. */
  async #continue({ kind }: HandSource): Promise<void> {
    await this.#qmp('qmp_capabilities')
    if (kind === 'template') {
      await this.#qmp('migrate-set-capabilities', {
        capabilities: [{ capability: 'x-ignore-shared', state: true }],
      })
      await this.#qmp('migrate-incoming', { uri: `fd:${firstFileFd + 1}` })
    }
    for (;;) {
      const { status } = (await this.#qmp('query-status')) as { readonly status: string }
      if (status !== 'inmigrate') break
      await delay(1)
    }
    await this.#qmp('cont')
  }

  /** Writes the VM's state into `file` and ends the VM. */
  async suspend(file: string): Promise<void> {
    await this.#qmp('qmp_capabilities')
    await this.#qmp('stop')
    await this.#qmp('migrate-set-parameters', { 'max-bandwidth': maxBandwidth })
    const path = `${file}.sock`
    const server = createServer().listen(path)
    await once(server, 'listening')
    const written = once(server, 'connection').then(([socket]) =>
      pipeline(socket as Socket, createWriteStream(file)),
    )
    await this.#qmp('migrate', { uri: `unix:${path}` })
    await written
    server.close()
    await this.end()
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  /**
   * Handles the part of the guest's control protocol that a start needs. Resolves when the application has
   * started.
   */
  #converse(start: HandStart): Promise<void> {
    const control = this.#channels[keeperFd.control]
    const config = encodeGuestConfig(start.process, place)
    if (control === undefined || config === undefined) throw new Error('the guest can not be configured')
    return new Promise((resolve) => {
      let text = ''
      // A guest from a template sent `ready` before it was copied.
      let isReady = this.#source?.kind === 'template'
      const configure = () => control.write(Buffer.concat([Buffer.from(`config ${config.length}\n`), config]))
      if (isReady) configure()
      control.on('data', (part: Buffer) => {
        text += part.toString('utf8')
        if (!isReady && text.includes('ready\n')) {
          isReady = true
          configure()
        }
        if (text.includes('time?\n')) control.write(timeLine())
        if (/^app \d+\n/m.test(text)) resolve()
        text = text.slice(text.lastIndexOf('\n') + 1)
      })
    })
  }

  /** Rejects when the VM ends, so that no caller waits for ever. */
  async #endedEarly(): Promise<never> {
    await this.#ended
    throw new Error('the VM by hand ended')
  }

  async #qmp(execute: string, args: object = {}): Promise<unknown> {
    const monitor = this.#channels[keeperFd.monitor]
    if (monitor === undefined) throw new Error('no monitor')
    const answer = new Promise<unknown>((resolve, reject) => {
      let text = ''
      const listen = (part: Buffer) => {
        text += part.toString('utf8')
        for (const line of text.split('\n').slice(0, -1)) {
          const said = JSON.parse(line) as {
            readonly return?: unknown
            readonly error?: { readonly desc: string }
          }
          if (said.return === undefined && said.error === undefined) continue
          monitor.off('data', listen)
          if (said.error === undefined) resolve(said.return)
          else reject(new Error(`${execute}: ${said.error.desc}`))
        }
        text = text.slice(text.lastIndexOf('\n') + 1)
      }
      monitor.on('data', listen)
    })
    monitor.write(`${JSON.stringify({ execute, arguments: args })}\n`)
    return await Promise.race([answer, this.#endedEarly()])
  }
}

/**
 * Changes an argument so that QEMU opens its network device itself. A VM of the platform gets the open
 * device from its keeper.
 */
function opensItsDevice(argument: string): string {
  return argument.replace(`fd=${tapFd}`, `ifname=${place.interfaceName},script=no,downscript=no`)
}

function timeLine(): string {
  return `time ${BigInt(Date.now()) * 1_000_000n}\n`
}

interface HandFile {
  readonly path: string
  readonly flags: 'r' | 'r+'
}

function planOf(
  start: HandStart,
  source: HandSource | undefined,
): { readonly command: readonly string[]; readonly files: readonly HandFile[] } {
  const { assets, rootfsPath, accelerator, facts } = start
  const machine = machineOf(start)
  const read = (path: string): HandFile => ({ path, flags: 'r' })
  if (source === undefined) {
    const commandLine = platformKernelArguments(accelerator, facts.tscKhz)
    const kernel = { kernelFd: firstFileFd, initrdFd: firstFileFd + 1, commandLine }
    return {
      command: buildCommandLine({ ...machine, kernel, rootDiskFd: firstFileFd + 2 }),
      files: [read(assets.kernelPath), read(assets.initrdPath), read(rootfsPath)],
    }
  }
  const files = [read(rootfsPath), read(source.statePath)]
  if (source.kind === 'snapshot') {
    const command = buildCommandLine({ ...machine, rootDiskFd: firstFileFd })
    return { command: [...command, '-incoming', `fd:${firstFileFd + 1}`], files }
  }
  const template = { stateFd: firstFileFd + 1, ramFd: firstFileFd + 2 }
  return {
    command: buildCommandLine({ ...machine, template, rootDiskFd: firstFileFd }),
    files: [...files, { path: source.ramPath, flags: 'r+' }],
  }
}

function machineOf({ facts, accelerator, memoryMb }: HandStart): Machine {
  return { qemuPath: facts.qemuPath, accelerator, memoryMb, vcpus: 1, attachment: place }
}

function answers(): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(
      { host: place.ip, port: guestPort, path: '/count', agent: false, timeout: 1_000 },
      (response) => {
        response.resume()
        resolve(response.statusCode === 200)
      },
    )
    request.once('error', () => resolve(false))
    request.once('timeout', () => request.destroy())
  })
}
