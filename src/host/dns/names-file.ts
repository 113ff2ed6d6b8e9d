import { readFile } from 'node:fs/promises'
import { replaceFile } from '../../primitives/replace-file.ts'
import type { PrivateName } from '../../domain/service/route-feed.ts'

/** How long a change waits before it is written. All changes in this time are written together. */
const saveDelayMs = 1_000

/**
 * A file with the names that the API sent last. An agent reads it if it starts while the API is
 * unreachable. A lost or old file does no harm: the API sends everything again once it is reachable.
 */
export class NamesFile {
  readonly #path: string
  readonly #current: () => readonly PrivateName[]
  readonly #warn: (message: string) => void
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(options: {
    readonly path: string
    readonly current: () => readonly PrivateName[]
    readonly warn: (message: string) => void
  }) {
    this.#path = options.path
    this.#current = options.current
    this.#warn = options.warn
  }

  async load(): Promise<readonly PrivateName[]> {
    try {
      const names: unknown = JSON.parse(await readFile(this.#path, 'utf8'))
      return Array.isArray(names) ? (names as readonly PrivateName[]).filter(isName) : []
    } catch {
      return []
    }
  }

  saveSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#writing = this.#writing.then(async () => await this.#write())
    }, saveDelayMs)
  }

  async close(): Promise<void> {
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer)
      this.#timer = undefined
      this.#writing = this.#writing.then(async () => await this.#write())
    }
    await this.#writing
  }

  async #write(): Promise<void> {
    try {
      await replaceFile(this.#path, JSON.stringify(this.#current()), { mode: 0o600 })
    } catch (error) {
      this.#warn(`the private names could not be saved: ${(error as Error).message}`)
    }
  }
}

function isName(value: unknown): value is PrivateName {
  const name = value as Partial<Record<keyof PrivateName, unknown>> | null
  return [name?.uuid, name?.userUuid, name?.name, name?.privateIp].every((part) => typeof part === 'string')
}
