import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The file `<agent directory>/halting`. It says that the last agent began to halt the platform, and when.
 * The agent writes it before it asks the first VM to end. So when that agent is killed during the halt, the
 * next one does not report those ends as the instances' own.
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
    // A crash may leave the marker empty. Then `Number` returns 0 as the time, and the marker still says
    // that a halt had begun.
    return text === undefined ? undefined : Number(text)
  }

  async clear(): Promise<void> {
    await rm(this.#path, { force: true })
  }
}
