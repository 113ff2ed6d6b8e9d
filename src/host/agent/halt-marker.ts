import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { haltMarkerName } from '../../domain/host/halt-marker.ts'

/**
 * The agent writes this file before it asks the first VM to end. So when it is killed during the halt, the
 * next agent knows of it. The end of the platform writes it, too, before it ends VMs that an agent left.
 */
export class HaltMarker {
  readonly #path: string

  constructor(agentDirectory: string) {
    this.#path = join(agentDirectory, haltMarkerName)
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
