import { diskReserveBytes } from '../../domain/host/disk-reserve.ts'
import type { DiskSize } from '../../domain/host/disk-reserve.ts'

/** How long one look at the disk's free room counts. Bytes that are written after the look are counted. */
const looksEveryMs = 1_000

/**
 * The room on the registry's disk that pushes of all users together may still take, whatever the quotas
 * promise.
 */
export class DiskRoom {
  readonly #disk: () => Promise<DiskSize>
  readonly #nowMs: () => number
  #leftBytes = 0
  #sinceLook = 0
  #lookedMs = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined

  constructor(options: { readonly disk: () => Promise<DiskSize>; readonly nowMs: () => number }) {
    this.#disk = options.disk
    this.#nowMs = options.nowMs
  }

  /** Called before the first `take` of a request. */
  async look(): Promise<void> {
    if (this.#nowMs() - this.#lookedMs < looksEveryMs) return
    await (this.#looking ??= this.#lookNow().finally(() => (this.#looking = undefined)))
  }

  /** Whether this many bytes may be written. If so, they count as written. */
  take(bytes: number): boolean {
    // During a long push this looks again without waiting. If the look fails, the last one still counts, and
    // the room that it found only shrinks.
    void this.look().catch(() => undefined)
    if (bytes > this.#leftBytes - this.#sinceLook) return false
    this.#sinceLook += bytes
    return true
  }

  async #lookNow(): Promise<void> {
    this.#lookedMs = this.#nowMs()
    const before = this.#sinceLook
    const { freeBytes, totalBytes } = await this.#disk()
    this.#leftBytes = freeBytes - diskReserveBytes(totalBytes)
    this.#sinceLook -= before
  }
}
