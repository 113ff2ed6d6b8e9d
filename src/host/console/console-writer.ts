import { appendFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  consoleSegmentBytes,
  consoleSegmentsKept,
  endOfSegments,
  listSegments,
  segmentName,
} from './console-segments.ts'

export interface ConsoleCaps {
  readonly segmentBytes: number
  readonly segmentsKept: number
}

const defaultCaps: ConsoleCaps = { segmentBytes: consoleSegmentBytes, segmentsKept: consoleSegmentsKept }

/**
 * Appends to a console by the rules of `console-segments.ts`. A console has one writer at a time. While a VM
 * runs, its keeper is the writer; so this class writes the platform's own lines only when there is no VM or
 * the VM stands still. Calls to one object are carried out in order.
 */
export class ConsoleWriter {
  readonly #directory: string
  readonly #caps: ConsoleCaps
  #last: Promise<void> = Promise.resolve()

  constructor(directory: string, caps: ConsoleCaps = defaultCaps) {
    this.#directory = directory
    this.#caps = caps
  }

  async append(bytes: Uint8Array): Promise<void> {
    const mine = this.#last.then(() => this.#append(bytes))
    // The caller of a failed append sees the failure; the next append is not affected.
    this.#last = mine.catch(() => undefined)
    return mine
  }

  async #append(bytes: Uint8Array): Promise<void> {
    await mkdir(this.#directory, { recursive: true })
    let rest = bytes
    while (rest.length > 0) {
      const segments = await listSegments(this.#directory)
      const end = (await endOfSegments(segments)) ?? 0
      const newest = segments.at(-1)
      const room = newest === undefined ? 0 : this.#caps.segmentBytes - (end - newest.start)
      const path = room > 0 && newest !== undefined ? newest.path : join(this.#directory, segmentName(end))
      const count = Math.min(room > 0 ? room : this.#caps.segmentBytes, rest.length)
      await appendFile(path, rest.subarray(0, count))
      rest = rest.subarray(count)
      await this.#dropOldest()
    }
  }

  async #dropOldest(): Promise<void> {
    const segments = await listSegments(this.#directory)
    const dropped = segments.slice(0, Math.max(0, segments.length - this.#caps.segmentsKept))
    await Promise.all(dropped.map((segment) => rm(segment.path, { force: true })))
  }
}
