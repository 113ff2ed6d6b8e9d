import { setTimeout as delay } from 'node:timers/promises'
import { NativeConnection, Worker } from '@temporalio/worker'
import type { WorkerOptions } from '@temporalio/worker'
import type { Logger } from 'pino'
import type { TemporalAddress } from '../control/temporal-control.ts'

/** The wait between attempts to reach Temporal, or after it was lost. */
const reconnectMs = 500

export interface KeptWorkerOptions {
  readonly place: TemporalAddress
  readonly worker: Omit<WorkerOptions, 'connection' | 'namespace'>
  readonly log: Logger
  /** Called whenever the worker begins to take work, with the time before which it had none. */
  readonly onStart?: (sinceMs: number) => void
  /** Called when the worker stops and nothing new begins here any more, to end work that would last. */
  readonly onStop?: () => void
}

/** A worker of one task queue. It runs as soon as Temporal is there, and again after it was away. */
export class KeptWorker {
  readonly #options: KeptWorkerOptions
  readonly #stopping = new AbortController()
  #worker: Worker | undefined
  #ended: Promise<void> = Promise.resolve()

  constructor(options: KeptWorkerOptions) {
    this.#options = options
  }

  get polls(): boolean {
    return this.#worker?.getState() === 'RUNNING'
  }

  start(): void {
    this.#ended = this.#keepRunning()
  }

  /**
   * Takes nothing new from here on. Resolves when the running work is over, or was cut off after its grace
   * time.
   */
  async stop(): Promise<void> {
    this.#stopping.abort()
    if (this.polls) this.#worker?.shutdown()
    this.#options.onStop?.()
    await this.#ended
  }

  async #keepRunning(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#runOnce()
      } catch (error) {
        this.#options.log.warn({ err: error }, 'Temporal can not be reached; trying again')
      }
      await delay(reconnectMs, undefined, { signal }).catch(() => undefined)
    }
  }

  async #runOnce(): Promise<void> {
    const { place, worker: options } = this.#options
    const sinceMs = Date.now()
    const connection = await NativeConnection.connect({ address: place.address })
    try {
      const worker = await Worker.create({ ...options, connection, namespace: place.namespace })
      this.#worker = worker
      if (this.#stopping.signal.aborted) return
      const run = worker.run()
      this.#options.onStart?.(sinceMs)
      await run
    } finally {
      this.#worker = undefined
      await connection.close()
    }
  }
}
