import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fstatSync, openSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'

/** The unit in which `stat` counts blocks, on every file system. */
const blockBytes = 512

type Holder = ChildProcessByStdio<Writable, Readable, null>

/**
 * The memory of a template: an anonymous file that this process holds open. The keeper's program makes it
 * (`keeper ram`), because Node has no call for that. After `release`, or the end of this process, the file
 * lives on only in the VMs that started from it.
 */
export class TemplateRam {
  readonly #holder: Holder
  readonly #descriptor: number

  constructor(holder: Holder, descriptor: number) {
    this.#holder = holder
    this.#descriptor = descriptor
  }

  /**
   * The path by which processes of this process's user, such as its keepers, open the file. It is valid
   * while this process lives.
   */
  get path(): string {
    return `/proc/${process.pid}/fd/${this.#descriptor}`
  }

  get heldMb(): number {
    return Math.ceil((fstatSync(this.#descriptor).blocks * blockBytes) / (1024 * 1024))
  }

  /**
   * Makes the file unchangeable, even for processes that have it open for writing. Throws if a process still
   * shares a writable mapping of the file.
   */
  async seal(): Promise<void> {
    this.#holder.stdin.write('seal\n')
    const answer = await readLine(this.#holder)
    this.#holder.stdin.end()
    if (answer !== 'sealed') throw new Error('the memory of the template could not be sealed')
  }

  release(): void {
    closeSync(this.#descriptor)
    this.#holder.kill()
  }
}

export async function makeTemplateRam(keeperPath: string, memoryMb: number): Promise<TemplateRam> {
  const holder = spawn(keeperPath, ['ram', `${memoryMb}`], { stdio: ['pipe', 'pipe', 'ignore'], env: {} })
  // A write to a holder that has ended fails. Its answer then does not come, and that is what is reported.
  holder.stdin.on('error', () => undefined)
  const number = (await readLine(holder)).match(/^fd (\d+)$/)?.[1]
  if (number === undefined) throw new Error('the memory of the template could not be made')
  return new TemplateRam(holder, openSync(`/proc/${holder.pid}/fd/${number}`, 'r+'))
}

async function readLine(holder: Holder): Promise<string> {
  const ended = once(holder, 'exit').then(() => [''])
  const [chunk] = (await Promise.race([once(holder.stdout, 'data'), ended])) as [Buffer | string]
  return chunk.toString().trim()
}
