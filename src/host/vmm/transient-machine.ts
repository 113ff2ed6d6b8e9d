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
 * A machine of our own that lives for a moment, to probe the accelerator or to make a template. It has the
 * jail of a VM (`guest/keeper/transient.c`), but this process talks to its VMM directly, and it dies with
 * this process.
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
    // Nobody needs what the guest prints, but it must not fill the channel.
    for (const number of [keeperFd.console, keeperFd.log]) channel(child, number).resume()
  }

  /** What the VMM wrote to its standard error. */
  get complaint(): string {
    return this.#complaint.trim()
  }

  /**
   * The VMM's exit code, or 128 plus the number of the signal that ended it. Undefined where its keeper was
   * killed.
   */
  get exited(): Promise<number | undefined> {
    return this.#exited
  }

  /** The CPU time and state of the VMM and of the jail's processes above it. Undefined once they are over. */
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

  /** Ends the machine. Resolves when its processes are gone. */
  async kill(): Promise<void> {
    // The process that gets the signal kills the VMM.
    this.#child.kill('SIGTERM')
    await this.#exited
  }
}

export async function startTransientMachine(input: {
  readonly command: readonly string[]
  readonly files: readonly InheritedFile[]
  readonly keeperPath: string
  /** The guest's memory. */
  readonly memoryMb: number
  /** The user that the machine runs as. If absent, it runs as the user of this process. */
  readonly owner?: VmOwner | undefined
  /**
   * The control groups that the machine enters. If there are none, it stays in those of this process for its
   * short life.
   */
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

/** Puts the files at the first free numbers, and socket pairs at the keeper's numbers. */
function descriptorTable(descriptors: readonly number[]): (IOType | number)[] {
  const table: (IOType | number)[] = Array.from({ length: keeperFd.monitor + 1 }, () => 'ignore')
  for (const [index, descriptor] of descriptors.entries()) table[firstFileFd + index] = descriptor
  for (const number of [standardErrorFd, ...Object.values(keeperFd)]) table[number] = 'pipe'
  return table
}

function channel(child: ChildProcess, number: number): Duplex {
  return child.stdio[number as 3] as unknown as Duplex
}
