import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fstatSync, openSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'

/** What `stat` counts in, whatever the file system. */
const blockBytes = 512

type Holder = ChildProcessByStdio<Writable, Readable, null>

/**
 * The memory of a template: an anonymous file that the keeper makes for us (`keeper ram`, for Node has no
 * such call) and that we hold open. It lives as long as this process or a VM that started from it.
 */
export class TemplateRam {
  readonly #holder: Holder
  readonly #descriptor: number

  constructor(holder: Holder, descriptor: number) {
    this.#holder = holder
    this.#descriptor = descriptor
  }

  /** For whoever is this process's user, its keepers too, for as long as this process lives. */
  get path(): string {
    return `/proc/${process.pid}/fd/${this.#descriptor}`
  }

  get heldMb(): number {
    return Math.ceil((fstatSync(this.#descriptor).blocks * blockBytes) / (1024 * 1024))
  }

  /**
   * From now on nobody can change it, whoever holds it open for writing. Needs all shared mappings to be
   * gone.
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
  // A holder that is gone shows in the next answer that does not come.
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
