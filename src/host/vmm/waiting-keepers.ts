import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'

/** Two wakes at once are common, and more keep the processor busy with other things; each takes some 100 KB. */
const keptWaiting = 2
/** Starting one holds this process up, so it waits until what the last one was taken for is over. */
const replenishMs = 300

/**
 * Keepers that were started ahead (`guest/keeper/waiting.c`), each known by its standard input. To start a process is to copy the page tables of
 * this one: 4 to 6 ms for an agent of 150 MB, as much as all else that a wake costs beside its VM.
 */
export class WaitingKeepers {
  readonly #keeperPath: string
  readonly #waiting = new Set<Socket>()
  /** The next one is started then. */
  #replenishing: NodeJS.Timeout | undefined
  #closed = false

  constructor(keeperPath: string) {
    this.#keeperPath = keeperPath
  }

  /** One that waits, or else a new one; rejects where none can be started. */
  async take(): Promise<Socket> {
    const [found] = this.#waiting
    found?.ref()
    if (found !== undefined) this.#waiting.delete(found)
    this.replenish()
    return found ?? (await this.#start())
  }

  /** Starts what is missing, one after the other, in a moment. */
  replenish(): void {
    if (this.#closed || this.#replenishing !== undefined || this.#waiting.size >= keptWaiting) return
    this.#replenishing = setTimeout(() => {
      this.#replenishing = undefined
      this.#add().then(
        () => this.replenish(),
        // Whoever needs one is told what is wrong.
        () => undefined,
      )
    }, replenishMs)
    this.#replenishing.unref()
  }

  /** Those that wait end. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#replenishing)
    for (const keeper of this.#waiting) keeper.destroy()
    this.#waiting.clear()
  }

  async #add(): Promise<void> {
    const keeper = await this.#start()
    if (this.#closed) {
      keeper.destroy()
      return
    }
    keeper.unref()
    this.#waiting.add(keeper)
    keeper.once('close', () => this.#waiting.delete(keeper))
  }

  async #start(): Promise<Socket> {
    const child = spawn(this.#keeperPath, ['wait'], {
      detached: true,
      cwd: '/',
      // No part of our environment: it may hold secrets of the platform.
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    child.unref()
    await once(child, 'spawn')
    const stdin = child.stdin as unknown as Socket
    // A keeper that ended early closes the pipe; that it is gone is found when it is connected to.
    stdin.on('error', () => undefined)
    // One that was killed while it waited is not to be taken.
    child.once('exit', () => stdin.destroy())
    return stdin
  }
}
