import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { startUnpacker } from './unpacker.ts'
import type { Unpacker } from './unpacker.ts'

/**
 * The pause before another process is started ahead. One process always waits, so that the start of a small
 * image takes no longer than necessary. It takes some 45 MB.
 */
const waitingDelayMs = 1_000
/**
 * The first user number of the processes. They get the numbers in turn, so that no two running processes
 * have the same. The numbers are below those of VMs and far from those of people and packages. The groups'
 * numbers follow them and are different (`squashfs-root.ts` says why).
 */
const firstUid = 0x3fff_0000
const uidCount = 1_024

export interface UnpackersOptions {
  /** The script of the process. */
  readonly program: string
  /**
   * The largest file that a process may write, and the most processor time that it may use. Both hold for
   * every image.
   */
  readonly maxFileBytes: number
  readonly maxCpuSeconds: number
  readonly onProblem: (message: string) => void
}

/** Starts the processes that unpack images. There is one per image, and one is started ahead. */
export class Unpackers {
  readonly #options: UnpackersOptions
  readonly #isRoot = process.geteuid?.() === 0
  #waiting: Unpacker | undefined
  #timer: NodeJS.Timeout | undefined
  #hasNetworkOfItsOwn: Promise<boolean> | undefined
  #begun = 0
  #closed = false

  constructor(options: UnpackersOptions) {
    this.#options = options
    this.#replenish()
  }

  /** Returns the process that waits, or else a new one. The caller ends it. */
  async take(): Promise<Unpacker> {
    const found = this.#waiting
    this.#waiting = undefined
    this.#replenish()
    return found === undefined || found.hasEnded() ? await this.#start() : found
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#waiting?.end()
  }

  #replenish(): void {
    if (this.#closed || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#start().then(
        (unpacker) => {
          if (this.#closed || this.#waiting !== undefined) unpacker.end()
          else this.#waiting = unpacker
        },
        // The error is dropped here: the next caller that needs a process gets it.
        () => undefined,
      )
    }, waitingDelayMs)
    this.#timer.unref()
  }

  async #start(): Promise<Unpacker> {
    this.#hasNetworkOfItsOwn ??= this.#isRoot ? this.#canLeaveNetwork() : Promise.resolve(false)
    const uid = firstUid + (this.#begun++ % uidCount)
    return startUnpacker({
      ...this.#options,
      withoutNetwork: await this.#hasNetworkOfItsOwn,
      ...(this.#isRoot ? { owner: { uid, gid: uid + uidCount } } : {}),
    })
  }

  async #canLeaveNetwork(): Promise<boolean> {
    try {
      await promisify(execFile)('unshare', ['--net', 'true'])
      return true
    } catch {
      this.#options.onProblem(
        'this machine permits no network namespaces: images are unpacked with its network',
      )
      return false
    }
  }
}
