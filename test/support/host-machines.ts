import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
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
   * Runs `roost join <args>` there, with these settings. Resolves once the machine says that it is a host, or
   * when it ended.
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

export function layWire(names: readonly string[]): Wire {
  const here = currentNamespace()
  if (here === undefined) throw new Error('machines need the network namespace of a test run')
  const address = `${network}.1`
  ip('link', 'add', bridge, 'type', 'bridge')
  ip('addr', 'add', `${address}/24`, 'dev', bridge)
  ip('link', 'set', bridge, 'promisc', 'on', 'up')
  const machines = names.map(
    (name, index) => new NamespaceMachine(`${here}-${name}`, `${network}.${index + 2}`),
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
  #child: ChildProcess | undefined

  constructor(namespace: string, address: string) {
    this.namespace = namespace
    this.address = address
    const plug = `wire${address.split('.').at(-1)}`
    this.#plug = plug
    ip('netns', 'add', namespace)
    ip('link', 'add', plug, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
    ip('link', 'set', plug, 'master', bridge, 'up')
    ip('-n', namespace, 'link', 'set', 'lo', 'up')
    ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    ip('-n', namespace, 'link', 'set', 'eth0', 'up')
  }

  async join(args: readonly string[], settings: Readonly<Record<string, string>> = {}): Promise<JoinOutcome> {
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
    nft(`delete table bridge cut_${this.#plug}\n`)
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
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}

/** Changes the packet filter of this process's namespace, in which the bridge is. */
function nft(rules: string): void {
  execFileSync('nft', ['-f', '-'], { input: rules, stdio: ['pipe', 'pipe', 'pipe'] })
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'pipe'] })
}
