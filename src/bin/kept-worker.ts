import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { NativeConnection, Worker } from '@temporalio/worker'
import type { WorkerOptions } from '@temporalio/worker'
import type { Logger } from 'pino'
import type { TemporalAddress } from '../control/temporal-control.ts'
import { connectionOptions } from '../trust/temporal-tls.ts'

/** The wait between two attempts to reach Temporal, and after the connection to it was lost. */
const reconnectMs = 500

export interface KeptWorkerOptions {
  readonly place: TemporalAddress
  readonly worker: Omit<WorkerOptions, 'connection' | 'namespace'>
  readonly log: Logger
  /**
   * Called each time the worker begins to accept work. `id` is the identity under which Temporal knows it
   * from then on. What is returned is called when the worker has ended its work, or lost the connection.
   */
  readonly onStart?: (id: string) => () => Promise<void>
  /**
   * Called when the worker stops and accepts no further work. It should end work that would otherwise last.
   */
  readonly onStop?: () => void
}

/**
 * A worker of one task queue. It runs as soon as Temporal can be reached, and runs again after Temporal was
 * unreachable.
 */
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
   * Accepts no work from now on. Resolves when the running work has ended, or was cut off after its grace
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
    // Work that a lost connection left behind must not look like work of the next one.
    const identity = `${process.pid}@${hostname()} ${randomBytes(6).toString('hex')}`
    const connection = await NativeConnection.connect(connectionOptions(place))
    try {
      const worker = await Worker.create({ ...options, identity, connection, namespace: place.namespace })
      this.#worker = worker
      if (this.#stopping.signal.aborted) return
      const run = worker.run()
      const ended = this.#options.onStart?.(identity)
      try {
        await run
      } finally {
        await ended?.()
      }
    } finally {
      this.#worker = undefined
      await connection.close()
    }
  }
}
