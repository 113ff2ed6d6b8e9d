import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * `<agent directory>/halting` says that the last agent began to halt the platform, and when. It is written
 * before the first VM is asked to end, so that an agent which is killed on the way does not pass those ends
 * off as the instances' own.
 */
export class HaltMarker {
  readonly #path: string

  constructor(agentDirectory: string) {
    this.#path = join(agentDirectory, 'halting')
  }

  async set(atMs: number): Promise<void> {
    await writeFile(this.#path, String(atMs))
  }

  async read(): Promise<number | undefined> {
    const text = await readFile(this.#path, 'utf8').catch(() => undefined)
    // A marker that a crash left empty still says that a halt had begun.
    return text === undefined ? undefined : Number(text)
  }

  async clear(): Promise<void> {
    await rm(this.#path, { force: true })
  }
}
