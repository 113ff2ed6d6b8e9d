import { stat } from 'node:fs/promises'
import { diskReserveBytes } from '../domain/host/disk-reserve.ts'
import { diskSizeAt } from './free-bytes.ts'

const mebibyte = 1024 * 1024

/** Room on a disk that was promised to somebody, who may write at any time. */
export interface DiskPromise {
  /** A directory on the file system in question. */
  readonly directory: string
  /** The part of the promise that is not written yet. The free room no longer contains the written part. */
  unwrittenBytes(): Promise<number>
}

/**
 * Room that is promised for one piece of work. What the work has written when it ends stays counted as
 * written.
 */
export interface Reservation {
  /** Gives the promise back. A second call does nothing. */
  release(): void
}

export interface DiskFigures {
  readonly freeBytes: number
  /** The sum of all promises on this file system, without what is written already. */
  readonly promisedBytes: number
  readonly reserveBytes: number
  /** What can be promised now; 0 if the disk is into its reserve. */
  readonly leftBytes: number
}

/** The port that work on a disk asks for room before it begins. */
export interface DiskAdmission {
  /**
   * Throws `DiskFullError` if less than `bytes` is left. If two calls come at once, the second one sees the
   * promise to the first.
   */
  reserve(wanted: { readonly directory: string; readonly bytes: number }): Promise<Reservation>
}

/** A disk has too little room. The message is for the owner of the data that was to be written. */
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
 * The ledger of a host's disks, one for each agent. Work that writes for instances asks here first. It is
 * admitted only as long as the reserve stays free:
 *
 *   left = free - reserve - what is promised and not written yet
 *
 * The reserve comes from `diskReserveBytes`, unless the constructor is given another one. Directories may be
 * on different file systems; each file system has figures of its own. The ledger is not on disk: a new agent
 * begins without reservations, and what earlier work has written no longer counts as free.
 */
export class DiskRoom implements DiskAdmission {
  readonly #reserveMb: number | undefined
  readonly #promises = new Set<DiskPromise>()
  #last: Promise<unknown> = Promise.resolve()

  constructor({ reserveMb }: { readonly reserveMb?: number } = {}) {
    this.#reserveMb = reserveMb
  }

  /** Adds a lasting promise that grows and shrinks by itself, such as the promise to all volumes. */
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
   * Runs `work` when no other work reads the figures and makes promises by them. `work` must not call
   * `reserve`: that call would wait for ever.
   */
  async alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return await result
  }

  /** The figures of the directory's file system. The promise `except` is not counted. */
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

/** The unwritten bytes of a promise on this device. In a directory that does not exist, nobody writes. */
async function unwrittenOn(device: number, promise: DiskPromise): Promise<number> {
  const found = await stat(promise.directory).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  })
  return found?.dev === device ? await promise.unwrittenBytes() : 0
}

/** Admits everything. It serves fake VMs, which write nothing. */
export const endlessDisk: DiskAdmission = {
  reserve: async () => await Promise.resolve({ release: () => undefined }),
}
