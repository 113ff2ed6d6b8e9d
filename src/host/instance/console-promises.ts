import { stat } from 'node:fs/promises'
import { consoleSegmentBytes, consoleSegmentsKept, listSegments } from '../console/console-segments.ts'
import type { DiskPromise } from '../disk-room.ts'
import type { InstanceStore } from './store.ts'

/** The most bytes of a console: it drops its oldest segment only after it has begun a new one. */
const consoleBytes = consoleSegmentBytes * (consoleSegmentsKept + 1)
/**
 * How often consoles are measured. What a console writes in between counts twice: as used disk, and as bytes
 * that it may still write. That is little, and errs on the safe side.
 */
const measureIntervalMs = 60_000

/**
 * The bytes that the consoles of all instances may still write. An instance that was not measured yet counts
 * in full.
 */
export class ConsolePromises implements DiskPromise {
  readonly directory: string
  readonly #store: InstanceStore
  readonly #instances: () => Iterable<string>
  readonly #nowMs: () => number
  #unwritten = new Map<string, number>()
  #measuredAtMs = -Infinity

  constructor(parts: {
    readonly directory: string
    readonly store: InstanceStore
    readonly instances: () => Iterable<string>
    readonly nowMs: () => number
  }) {
    this.directory = parts.directory
    this.#store = parts.store
    this.#instances = parts.instances
    this.#nowMs = parts.nowMs
  }

  async unwrittenBytes(): Promise<number> {
    const nowMs = this.#nowMs()
    if (nowMs >= this.#measuredAtMs + measureIntervalMs) await this.#measure(nowMs)
    let sum = 0
    for (const instance of this.#instances()) sum += this.#unwritten.get(instance) ?? consoleBytes
    return sum
  }

  async #measure(nowMs: number): Promise<void> {
    const unwritten = new Map<string, number>()
    for (const instance of this.#instances()) {
      const written = await writtenBytes(this.#store.consoleDirectory(instance))
      unwritten.set(instance, Math.max(0, consoleBytes - written))
    }
    this.#unwritten = unwritten
    this.#measuredAtMs = nowMs
  }
}

/** The size of a console's segments. A segment that is deleted meanwhile counts as not written. */
async function writtenBytes(consoleDirectory: string): Promise<number> {
  const segments = await listSegments(consoleDirectory)
  const sizes = await Promise.all(
    segments.map(
      async (segment) =>
        await stat(segment.path)
          .then(({ size }) => size)
          .catch(() => 0),
    ),
  )
  return sizes.reduce((sum, bytes) => sum + bytes, 0)
}
