import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fstatSync, openSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'

/** The unit in which `stat` counts blocks, on every file system. */
const blockBytes = 512

type Holder = ChildProcessByStdio<Writable, Readable, null>

/**
 * The memory of a template: an anonymous file that we hold open. The keeper makes it for us (`keeper ram`),
 * because Node has no such call. It lives as long as this process or a VM that started from it.
 */
export class TemplateRam {
  readonly #holder: Holder
  readonly #descriptor: number

  constructor(holder: Holder, descriptor: number) {
    this.#holder = holder
    this.#descriptor = descriptor
  }

  /**
   * The file's path, for processes of this process's user, its keepers among them, while this process lives.
   */
  get path(): string {
    return `/proc/${process.pid}/fd/${this.#descriptor}`
  }

  get heldMb(): number {
    return Math.ceil((fstatSync(this.#descriptor).blocks * blockBytes) / (1024 * 1024))
  }

  /**
   * Makes the file unchangeable, even for processes that have it open for writing. All shared mappings have
   * to be gone.
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
  // If the holder has ended, the next answer does not come, and that is reported.
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
