import { setTimeout as delay } from 'node:timers/promises'
import path from 'node:path'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import type { Logger } from 'pino'
import type { ControlActivities } from '../../activities/control-activities.ts'
import type { TemporalPlace } from '../control/temporal-control.ts'
import { controlTaskQueue } from '../domain/host-work.ts'

/** Between attempts to reach Temporal, or after it was lost. */
const reconnectMs = 500
/** What runs when the worker is told to stop gets this long; then Temporal gives it to the next worker. */
const shutdownGrace = '2s'
const shutdownForce = '3s'
/** A worker that was killed leaves tasks on its own queue; after this they go to whoever is there. */
const stickyTimeout = '3s'
/** A workflow's state in memory: some 100 KB each. The others are replayed when they are needed. */
const cachedWorkflows = 500
/** One write to PostgreSQL each; more would only wait for a connection of its pool. */
const localActivitiesAtOnce = 40

export interface ControlWorkerOptions {
  readonly place: TemporalPlace
  readonly activities: ControlActivities
  /** Made at set-up; absent: the workflows are bundled now, which costs more than a second. */
  readonly workflowBundle?: string
  readonly log: Logger
  /** Where the SDK serves its Prometheus metrics. */
  readonly sdkMetricsAddress: string
}

/** The worker of the task queue `control`: there as soon as Temporal is, and again after it was away. */
export class ControlWorker {
  readonly #options: ControlWorkerOptions
  readonly #stopping = new AbortController()
  #worker: Worker | undefined
  #ended: Promise<void> = Promise.resolve()

  constructor(options: ControlWorkerOptions) {
    this.#options = options
    Runtime.install({
      // The process decides itself what a signal means.
      shutdownSignals: [],
      logger: new DefaultLogger('WARN', (entry) => options.log.warn({ ...entry.meta }, entry.message)),
      telemetryOptions: { metrics: { prometheus: { bindAddress: options.sdkMetricsAddress } } },
    })
  }

  get polls(): boolean {
    return this.#worker?.getState() === 'RUNNING'
  }

  start(): void {
    this.#ended = this.#keepRunning()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    if (this.polls) this.#worker?.shutdown()
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
    const { place, activities, workflowBundle } = this.#options
    const connection = await NativeConnection.connect({ address: place.address })
    try {
      const worker = await Worker.create({
        connection,
        namespace: place.namespace,
        taskQueue: controlTaskQueue,
        ...(workflowBundle === undefined
          ? { workflowsPath: path.resolve(import.meta.dirname, '../../workflows/index.ts') }
          : { workflowBundle: { codePath: workflowBundle } }),
        activities,
        maxCachedWorkflows: cachedWorkflows,
        maxConcurrentLocalActivityExecutions: localActivitiesAtOnce,
        stickyQueueScheduleToStartTimeout: stickyTimeout,
        shutdownGraceTime: shutdownGrace,
        shutdownForceTime: shutdownForce,
      })
      this.#worker = worker
      if (!this.#stopping.signal.aborted) await worker.run()
    } finally {
      this.#worker = undefined
      await connection.close()
    }
  }
}
