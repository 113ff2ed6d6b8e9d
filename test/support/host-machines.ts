import { execFileSync, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { currentNamespace, processesIn } from './namespace.ts'
import { commandLineOf, processesOf } from './processes.ts'
import type { ProcessSeen } from './processes.ts'
import { until } from './until.ts'
import { recordWire } from './wire-recording.ts'
import type { WireRecording } from './wire-recording.ts'

/**
 * Machines beside the one of the test run, each in a network namespace of its own. A bridge connects them
 * with the namespace of the run, in which the control plane is. Nothing outside these namespaces gets
 * traffic.
 */
export interface Wire {
  /** The address of the control plane's machine. */
  readonly address: string
  readonly machines: readonly Machine[]
  /** Records every frame on the wire, also those between two machines. */
  record(): Promise<WireRecording>
  remove(): Promise<void>
}

export interface Machine {
  readonly namespace: string
  readonly address: string
  readonly dataDir: string
  /**
   * Runs `roost join <args>` there, with these settings, or those of the last time. Resolves once the machine
   * says that it is a host, or when it ended.
   */
  join(args: readonly string[], settings?: Readonly<Record<string, string>>): Promise<JoinOutcome>
  output(): string
  /** Ends the host like Ctrl-C. */
  stop(): Promise<void>
  pidOf(part: string): number | undefined
  /** As `Stack.killPart`. */
  killPart(part: string, whole?: 'group'): Promise<void>
  /** All processes of the machine, with its VMs, which have namespaces of their own. */
  processes(): readonly ProcessSeen[]
  /**
   * Drops every frame from and to the machine. Its interface stays up, so only the silence tells the machine
   * that it is cut off.
   */
  cutWire(): void
  mendWire(): void
  /** Makes the wire slow in both directions, so that much is late and some is lost. `mendWire` ends it. */
  slowWire(): void
  /** Takes all room of the machine's disk, which has to be one of its own (`diskMb`). */
  fillDisk(): void
  freeDisk(): void
  /** Runs a program there, and returns what it printed. */
  run(program: string, ...args: readonly string[]): string
}

export type JoinOutcome = { readonly isHost: true; readonly tookMs: number } | { readonly isHost: false }

const checkout = path.resolve(import.meta.dirname, '../..')
/** A network for documentation (RFC 5737). No machine has it. */
const network = '192.0.2'
const bridge = 'roost-wire'
const joinLimitMs = 60_000
const stopLimitMs = 15_000
const restartLimitMs = 60_000
/** A link of a bad day. Kernels without `netem` get the second one, where full queues are late and drop. */
const slowLinks = {
  full: 'netem delay 40ms 20ms loss 1% rate 8mbit',
  plain: 'tbf rate 4mbit burst 16kb latency 200ms',
}
const mebibyte = 1024 * 1024
const fullBelowMb = 16

export interface WireOptions {
  /** The size of a disk of its own for each machine. Absent: they share that of the test run. */
  readonly diskMb?: number
}

export function layWire(names: readonly string[], { diskMb }: WireOptions = {}): Wire {
  const here = currentNamespace()
  if (here === undefined) throw new Error('machines need the network namespace of a test run')
  const address = `${network}.1`
  ip('link', 'add', bridge, 'type', 'bridge')
  ip('addr', 'add', `${address}/24`, 'dev', bridge)
  ip('link', 'set', bridge, 'promisc', 'on', 'up')
  const machines = names.map(
    (name, index) => new NamespaceMachine(`${here}-${name}`, `${network}.${index + 2}`, diskMb),
  )
  return {
    address,
    machines,
    record: async () => await recordWire(bridge),
    async remove() {
      for (const machine of machines) await machine.remove()
      ip('link', 'del', bridge)
    },
  }
}

class NamespaceMachine implements Machine {
  readonly namespace: string
  readonly address: string
  readonly dataDir = mkdtempSync(path.join(tmpdir(), 'roost-host-'))
  readonly #plug: string
  readonly #lines: string[] = []
  readonly #disk: OwnDisk | undefined
  #settings: Readonly<Record<string, string>> = {}
  #child: ChildProcess | undefined
  #isCut = false
  #isSlow = false

  constructor(namespace: string, address: string, diskMb?: number) {
    this.namespace = namespace
    this.address = address
    this.#disk = diskMb === undefined ? undefined : new OwnDisk(this.dataDir, diskMb)
    const plug = `wire${address.split('.').at(-1)}`
    this.#plug = plug
    ip('netns', 'add', namespace)
    ip('link', 'add', plug, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
    ip('link', 'set', plug, 'master', bridge, 'up')
    ip('-n', namespace, 'link', 'set', 'lo', 'up')
    ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    ip('-n', namespace, 'link', 'set', 'eth0', 'up')
  }

  async join(args: readonly string[], settings = this.#settings): Promise<JoinOutcome> {
    this.#settings = settings
    const startedMs = performance.now()
    const firstLine = this.#lines.length
    const program = path.join(checkout, 'src/bin/roost.ts')
    const child = spawn(
      'nsenter',
      [`--net=/run/netns/${this.namespace}`, '--', process.execPath, program, 'join', ...args],
      {
        cwd: checkout,
        env: { ...process.env, ROOST_DATA_DIR: this.dataDir, ...settings },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => this.#lines.push(text))
    }
    const isHost = () => this.#lines.slice(firstLine).join('').includes('This machine is host')
    await until(`${this.namespace} joined or gave up`, () => isHost() || child.exitCode !== null, {
      limitMs: joinLimitMs,
    }).catch((cause: unknown) => {
      throw new Error(`${this.namespace} printed:\n${this.output()}`, { cause })
    })
    return isHost() ? { isHost: true, tookMs: performance.now() - startedMs } : { isHost: false }
  }

  output(): string {
    return this.#lines.join('')
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const late = setTimeout(() => child.kill('SIGKILL'), stopLimitMs)
    child.kill('SIGINT')
    await once(child, 'exit')
    clearTimeout(late)
  }

  pidOf(part: string): number | undefined {
    return processesOf(this.dataDir).find(({ commandLine }) => commandLine.includes(`bin/${part}.ts`))?.pid
  }

  async killPart(part: string, whole?: 'group'): Promise<void> {
    const pid = this.pidOf(part)
    if (pid === undefined) throw new Error(`${this.namespace} has no ${part}`)
    const firstLine = this.#lines.length
    process.kill(whole === 'group' ? -pid : pid, 'SIGKILL')
    await until(
      `${part} is ready again`,
      () => this.#lines.slice(firstLine).join('').includes(`${part} is ready again`),
      { limitMs: restartLimitMs },
    )
  }

  processes(): readonly ProcessSeen[] {
    const found = new Map(processesOf(this.dataDir).map((one) => [one.pid, one]))
    for (const pid of processesIn(this.namespace)) found.set(pid, { pid, commandLine: commandLineOf(pid) })
    return [...found.values()]
  }

  cutWire(): void {
    this.#isCut = true
    const [table, plug] = [`cut_${this.#plug}`, this.#plug]
    nft(
      [
        `table bridge ${table} {`,
        `chain from_machine { type filter hook prerouting priority -300; iifname "${plug}" drop; }`,
        `chain to_machine { type filter hook postrouting priority 300; oifname "${plug}" drop; }`,
        '}',
        '',
      ].join('\n'),
    )
  }

  mendWire(): void {
    if (this.#isCut) nft(`delete table bridge cut_${this.#plug}\n`)
    if (this.#isSlow) this.#onWireEnds('del', '')
    this.#isCut = false
    this.#isSlow = false
  }

  slowWire(): void {
    this.#isSlow = true
    try {
      this.#onWireEnds('replace', slowLinks.full)
    } catch {
      this.#onWireEnds('replace', slowLinks.plain)
    }
  }

  fillDisk(): void {
    this.#ownDisk().fill()
  }

  freeDisk(): void {
    this.#ownDisk().free()
  }

  run(program: string, ...args: readonly string[]): string {
    const inside = [`--net=/run/netns/${this.namespace}`, '--', program, ...args]
    return execFileSync('nsenter', inside, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  }

  async remove(): Promise<void> {
    await this.stop()
    for (const pid of processesIn(this.namespace)) process.kill(pid, 'SIGKILL')
    // The kernel would remove it some time after the namespace, and the next machine needs the name.
    ip('link', 'del', this.#plug)
    ip('netns', 'del', this.namespace)
    this.#disk?.remove()
    rmSync(this.dataDir, { recursive: true, force: true })
  }

  /** Each end of the wire delays the frames that leave there. */
  #onWireEnds(change: 'replace' | 'del', link: string): void {
    const words = link.split(' ').filter(Boolean)
    execFileSync('tc', ['qdisc', change, 'dev', this.#plug, 'root', ...words], { stdio: 'pipe' })
    execFileSync('tc', ['-n', this.namespace, 'qdisc', change, 'dev', 'eth0', 'root', ...words], {
      stdio: 'pipe',
    })
  }

  #ownDisk(): OwnDisk {
    if (this.#disk === undefined) throw new Error(`${this.namespace} has no disk of its own`)
    return this.#disk
  }
}

/** A file system of a bounded size in a file that grows with its content. */
class OwnDisk {
  readonly #image: string
  readonly #directory: string
  readonly #filler: string

  constructor(directory: string, sizeMb: number) {
    this.#directory = directory
    this.#image = `${directory}.disk`
    this.#filler = path.join(directory, 'filler')
    execFileSync('truncate', ['--size', `${sizeMb}M`, this.#image])
    // Without blocks that only root may use: a full disk is full for all.
    execFileSync('mkfs.ext4', ['-q', '-m', '0', this.#image])
    execFileSync('mount', ['-o', 'loop', this.#image, directory])
  }

  /** Asks for more than there is: all of it is taken, whatever the host writes meanwhile. */
  fill(): void {
    const length = `${this.#freeMb() + fullBelowMb}M`
    spawnSync('fallocate', ['--length', length, this.#filler])
    const leftMb = this.#freeMb()
    if (leftMb > fullBelowMb) throw new Error(`the disk has ${leftMb} MB of room yet`)
  }

  #freeMb(): number {
    const { bavail, bsize } = statfsSync(this.#directory)
    return Math.floor((bavail * bsize) / mebibyte)
  }

  free(): void {
    rmSync(this.#filler, { force: true })
  }

  remove(): void {
    execFileSync('umount', [this.#directory])
    rmSync(this.#image)
  }
}

/** Changes the packet filter of this process's namespace, in which the bridge is. */
function nft(rules: string): void {
  execFileSync('nft', ['-f', '-'], { input: rules, stdio: ['pipe', 'pipe', 'pipe'] })
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'pipe'] })
}
