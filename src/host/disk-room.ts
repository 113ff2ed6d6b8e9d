import { stat } from 'node:fs/promises'
import { diskReserveBytes } from '../domain/host/disk-reserve.ts'
import { diskSizeAt } from './free-bytes.ts'

const mebibyte = 1024 * 1024

/** What somebody was promised of a disk and may write at any time. */
export interface DiskPromise {
  /** On the file system that is meant. */
  readonly directory: string
  /** What is not written yet: what is written is missing from the free room already. */
  unwrittenBytes(): Promise<number>
}

/**
 * Room that is promised for one piece of work. What the work has written by its end stays counted as written.
 */
export interface Reservation {
  /** Gives the promise back; repeating it does nothing. */
  release(): void
}

export interface DiskFigures {
  readonly freeBytes: number
  /** To all others together, and not written yet. */
  readonly promisedBytes: number
  readonly reserveBytes: number
  /** What can be promised now; 0 where the reserve is touched. */
  readonly leftBytes: number
}

/** What the agent's work on a disk asks before it begins. */
export interface DiskAdmission {
  /**
   * Throws `DiskFullError` where less is left. Of two that come at once the second sees the promise to the
   * first.
   */
  reserve(wanted: { readonly directory: string; readonly bytes: number }): Promise<Reservation>
}

/** The message is for the owner of what was to be written. */
export class DiskFullError extends Error {
  override readonly name = 'DiskFullError'
  readonly neededMb: number
  readonly leftMb: number
  readonly figures: DiskFigures
  constructor(neededBytes: number, figures: DiskFigures) {
    const neededMb = Math.ceil(neededBytes / mebibyte)
    const leftMb = Math.floor(figures.leftBytes / mebibyte)
    super(`the host's disk has no room: ${neededMb} MB are needed and ${leftMb} MB are left`)
    this.neededMb = neededMb
    this.leftMb = leftMb
    this.figures = figures
  }
}

/**
 * The ledger of a host's disks, one for each agent. Whoever writes for instances asks here first and is
 * admitted only as far as the reserve stays free:
 *
 *   left = free - reserve - what is promised and not written yet
 *
 * The reserve is that of `diskReserveBytes`, where the constructor is given no other. Directories may be on
 * different file systems; each has figures of its own. Nothing of it is on disk: an agent begins without
 * reservations, and what earlier work has written is missing from the free room.
 */
export class DiskRoom implements DiskAdmission {
  readonly #reserveMb: number | undefined
  readonly #promises = new Set<DiskPromise>()
  #last: Promise<unknown> = Promise.resolve()

  constructor({ reserveMb }: { readonly reserveMb?: number } = {}) {
    this.#reserveMb = reserveMb
  }

  /** A promise that lasts and grows and shrinks by itself, such as that to all volumes. */
  add(promise: DiskPromise): void {
    this.#promises.add(promise)
  }

  async reserve({
    directory,
    bytes,
  }: {
    readonly directory: string
    readonly bytes: number
  }): Promise<Reservation> {
    return await this.alone(async () => {
      const figures = await this.figures(directory)
      if (bytes > figures.leftBytes) throw new DiskFullError(bytes, figures)
      const promise = { directory, unwrittenBytes: async () => await Promise.resolve(bytes) }
      this.#promises.add(promise)
      return { release: () => void this.#promises.delete(promise) }
    })
  }

  /**
   * What looks at the figures and promises by them goes one after another; within `work`, `reserve` would
   * wait for ever.
   */
  async alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return await result
  }

  /** With `except` as if that promise were not there. */
  async figures(directory: string, except?: DiskPromise): Promise<DiskFigures> {
    const { dev } = await stat(directory)
    const others = [...this.#promises].filter((promise) => promise !== except)
    const unwritten = await Promise.all(others.map(async (promise) => await unwrittenOn(dev, promise)))
    const promisedBytes = unwritten.reduce((sum, bytes) => sum + bytes, 0)
    const { freeBytes, totalBytes } = await diskSizeAt(directory)
    const reserveMb = this.#reserveMb
    const reserveBytes = reserveMb === undefined ? diskReserveBytes(totalBytes) : reserveMb * mebibyte
    const leftBytes = Math.max(0, freeBytes - reserveBytes - promisedBytes)
    return { freeBytes, promisedBytes, reserveBytes, leftBytes }
  }
}

/** A directory that is not there has nobody who writes to it. */
async function unwrittenOn(device: number, promise: DiskPromise): Promise<number> {
  const found = await stat(promise.directory).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  })
  return found?.dev === device ? await promise.unwrittenBytes() : 0
}

/** For pretended VMs, which write nothing. */
export const endlessDisk: DiskAdmission = {
  reserve: async () => await Promise.resolve({ release: () => undefined }),
}
