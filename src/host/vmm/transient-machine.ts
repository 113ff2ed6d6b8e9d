import { spawn } from 'node:child_process'
import type { ChildProcess, IOType } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import { firstFileFd, keeperFd } from './command-line.ts'
import type { InheritedFile } from './keeper-process.ts'
import { QmpClient } from './qmp-client.ts'

const maxComplaintLength = 2_000
const standardErrorFd = 2

/**
 * A machine of our own, for a moment: to probe the accelerator, to make a template. Unlike a VM it has no keeper and
 * dies with this process. It is jailed in the same way.
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

  /** The exit code; undefined when a signal ended it. */
  get exited(): Promise<number | undefined> {
    return this.#exited
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

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }
}

export async function startTransientMachine(input: {
  readonly command: readonly string[]
  readonly files: readonly InheritedFile[]
  readonly owner?: { readonly uid: number; readonly gid: number }
  /** Absent: it stays in the groups of this process, for the moment that it takes. */
  readonly enter?: { readonly keeperPath: string; readonly groups: readonly string[] }
}): Promise<TransientMachine> {
  const descriptors: number[] = []
  try {
    for (const { path, flags } of input.files) descriptors.push(openSync(path, flags))
    const jailed = ['setpriv', ...jailArguments(input.owner), '--', ...input.command]
    const { enter } = input
    const [program = '', ...args] =
      enter === undefined ? jailed : [enter.keeperPath, 'enter', ...enter.groups, '--', ...jailed]
    const child = spawn(program, args, {
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

function jailArguments(owner: { readonly uid: number; readonly gid: number } | undefined): readonly string[] {
  const always = ['--pdeathsig', 'KILL', '--no-new-privs', '--inh-caps=-all']
  if (owner === undefined) return always
  const identity = [
    '--reuid',
    `${owner.uid}`,
    '--regid',
    `${owner.gid}`,
    '--clear-groups',
    '--bounding-set=-all',
  ]
  return [...always, ...identity]
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
