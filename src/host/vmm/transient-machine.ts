import { spawn } from 'node:child_process'
import type { ChildProcess, IOType } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import { firstFileFd, keeperFd } from './command-line.ts'
import { jailArguments } from './keeper-process.ts'
import type { InheritedFile } from './keeper-process.ts'
import { readRest } from './process-stat.ts'
import type { ProcessRest } from './process-stat.ts'
import { QmpClient } from './qmp-client.ts'
import type { VmOwner } from './vm-owner.ts'

const maxComplaintLength = 2_000
const standardErrorFd = 2

/**
 * A machine of our own, for a moment: to probe the accelerator, to make a template. It is jailed as a VM is
 * (`guest/keeper/transient.c`), but we talk to its VMM ourselves, and it dies with this process.
 */
export class TransientMachine {
  readonly monitor: QmpClient
  readonly control: Duplex
  readonly #child: ChildProcess
  readonly #exited: Promise<number | undefined>
  #complaint = ''

  constructor(child: ChildProcess) {
    this.#child = child
    this.#exited = once(child, 'exit').then(([code]) => (code as number | null) ?? undefined)
    this.monitor = new QmpClient(channel(child, keeperFd.monitor))
    this.control = channel(child, keeperFd.control)
    child.stderr?.on('data', (chunk: Buffer) => {
      if (this.#complaint.length < maxComplaintLength) this.#complaint += chunk.toString('utf8')
    })
    // What the guest prints is nobody's, but it must not fill the channel.
    for (const number of [keeperFd.console, keeperFd.log]) channel(child, number).resume()
  }

  /** What the VMM said of itself. */
  get complaint(): string {
    return this.#complaint.trim()
  }

  /**
   * The VMM's exit code, or 128 and the number of the signal that ended it; undefined where its keeper was
   * killed.
   */
  get exited(): Promise<number | undefined> {
    return this.#exited
  }

  /** Of its VMM and what the jail put above it; undefined once that is over. */
  rest(): ProcessRest | undefined {
    return this.#child.pid === undefined ? undefined : readRest(this.#child.pid)
  }

  /** Resolves with the first line of the guest that starts with `prefix`. */
  async line(prefix: string, signal: AbortSignal): Promise<string> {
    let text = ''
    for (;;) {
      const ended = this.#exited.then((): [undefined] => [undefined])
      const data = once(this.control, 'data', { signal }) as Promise<[Buffer]>
      const [chunk] = await Promise.race([data, ended])
      if (chunk === undefined) throw new Error(`the machine ended before it said '${prefix}'`)
      text += chunk.toString('utf8')
      const found = text
        .split('\n')
        .slice(0, -1)
        .find((line) => line.startsWith(prefix))
      if (found !== undefined) return found
    }
  }

  /** Resolves when nothing of it is left. */
  async kill(): Promise<void> {
    // Whoever gets it kills the VMM.
    this.#child.kill('SIGTERM')
    await this.#exited
  }
}

export async function startTransientMachine(input: {
  readonly command: readonly string[]
  readonly files: readonly InheritedFile[]
  readonly keeperPath: string
  /** Of its guest. */
  readonly memoryMb: number
  /** Whom it becomes; absent: it stays who we are. */
  readonly owner?: VmOwner | undefined
  /** Control groups that it enters; none: it stays in those of this process, for the moment that it takes. */
  readonly groups?: readonly string[]
}): Promise<TransientMachine> {
  const { keeperPath, command, groups = [] } = input
  const descriptors: number[] = []
  try {
    for (const { path, flags } of input.files) descriptors.push(openSync(path, flags))
    const jailed = ['transient', ...jailArguments(input), '--', ...command]
    const entering = groups.length === 0 ? [] : ['enter', ...groups, '--', keeperPath]
    const child = spawn(keeperPath, [...entering, ...jailed], {
      cwd: '/',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: descriptorTable(descriptors),
    })
    await once(child, 'spawn')
    return new TransientMachine(child)
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
}

/** The files from the first free number on, and socket pairs under the keeper's numbers. */
function descriptorTable(descriptors: readonly number[]): (IOType | number)[] {
  const table: (IOType | number)[] = Array.from({ length: keeperFd.monitor + 1 }, () => 'ignore')
  for (const [index, descriptor] of descriptors.entries()) table[firstFileFd + index] = descriptor
  for (const number of [standardErrorFd, ...Object.values(keeperFd)]) table[number] = 'pipe'
  return table
}

function channel(child: ChildProcess, number: number): Duplex {
  return child.stdio[number as 3] as unknown as Duplex
}
