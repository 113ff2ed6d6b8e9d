import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { currentNamespace, processesIn } from './namespace.ts'
import { processesOf } from './processes.ts'
import { until } from './until.ts'

/**
 * Machines beside the one of the test run, each in a network namespace of its own. A bridge connects them
 * with the namespace of the run, in which the control plane is. Nothing outside these namespaces gets
 * traffic.
 */
export interface Wire {
  /** The address of the control plane's machine. */
  readonly address: string
  readonly machines: readonly Machine[]
  /** Records every byte on the wire until `stop`, which returns them. */
  listen(): Promise<{ stop(): Promise<Buffer> }>
  remove(): Promise<void>
}

export interface Machine {
  readonly namespace: string
  readonly address: string
  readonly dataDir: string
  /** Runs `roost join <args>` there. Resolves once the machine says that it is a host, or when it ended. */
  join(args: readonly string[]): Promise<JoinOutcome>
  output(): string
  /** Ends the host like Ctrl-C. */
  stop(): Promise<void>
  pidOf(part: string): number | undefined
}

export type JoinOutcome = { readonly isHost: true; readonly tookMs: number } | { readonly isHost: false }

const checkout = path.resolve(import.meta.dirname, '../..')
/** A network for documentation (RFC 5737). No machine has it. */
const network = '192.0.2'
const bridge = 'roost-wire'
const joinLimitMs = 60_000
const stopLimitMs = 15_000

export function layWire(names: readonly string[]): Wire {
  const here = currentNamespace()
  if (here === undefined) throw new Error('machines need the network namespace of a test run')
  const address = `${network}.1`
  ip('link', 'add', bridge, 'type', 'bridge')
  ip('addr', 'add', `${address}/24`, 'dev', bridge)
  ip('link', 'set', bridge, 'up')
  const machines = names.map(
    (name, index) => new NamespaceMachine(`${here}-${name}`, `${network}.${index + 2}`),
  )
  return {
    address,
    machines,
    listen,
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
  readonly #lines: string[] = []
  #child: ChildProcess | undefined

  constructor(namespace: string, address: string) {
    this.namespace = namespace
    this.address = address
    const plug = `wire${address.split('.').at(-1)}`
    ip('netns', 'add', namespace)
    ip('link', 'add', plug, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
    ip('link', 'set', plug, 'master', bridge, 'up')
    ip('-n', namespace, 'link', 'set', 'lo', 'up')
    ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    ip('-n', namespace, 'link', 'set', 'eth0', 'up')
  }

  async join(args: readonly string[]): Promise<JoinOutcome> {
    const startedMs = performance.now()
    const firstLine = this.#lines.length
    const program = path.join(checkout, 'src/bin/roost.ts')
    const child = spawn(
      'nsenter',
      [`--net=/run/netns/${this.namespace}`, '--', process.execPath, program, 'join', ...args],
      {
        cwd: checkout,
        env: { ...process.env, ROOST_DATA_DIR: this.dataDir },
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

  async remove(): Promise<void> {
    await this.stop()
    for (const pid of processesIn(this.namespace)) process.kill(pid, 'SIGKILL')
    ip('netns', 'del', this.namespace)
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}

/** A raw socket sees every frame of the bridge, as a program at the wire would. */
const recorder = `
import socket, sys, signal
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
wire.bind((sys.argv[1], 0))
wire.settimeout(0.2)
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
sys.stderr.write("listening\\n"); sys.stderr.flush()
while not ended:
    try: sys.stdout.buffer.write(wire.recv(65535))
    except socket.timeout: pass
sys.stdout.buffer.flush()
`

async function listen(): Promise<{ stop(): Promise<Buffer> }> {
  const child = spawn('python3', ['-c', recorder, bridge], { stdio: ['ignore', 'pipe', 'pipe'] })
  const seen: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => seen.push(piece))
  await once(child.stderr, 'data')
  return {
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'close')
      return Buffer.concat(seen)
    },
  }
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'pipe'] })
}
