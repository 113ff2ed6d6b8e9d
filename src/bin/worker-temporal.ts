import path from 'node:path'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import type { Logger } from 'pino'
import type { AutoscaleActivities } from '../../activities/autoscale/activities.ts'
import type { CertificateActivities } from '../../activities/certificate/activities.ts'
import type { ControlActivities } from '../../activities/control-activities.ts'
import type { TemporalAddress } from '../control/temporal-control.ts'
import { autoscaleTaskQueue } from '../domain/autoscale/settings.ts'
import { controlTaskQueue } from '../domain/instance/host-work.ts'
import { KeptWorker } from './kept-worker.ts'

/**
 * How long running work gets when the worker is told to stop. After that Temporal gives it to the next
 * worker.
 */
const shutdownGrace = '2s'
const shutdownForce = '3s'
/** A worker that was killed leaves tasks on its own queue. After this time they go to any other worker. */
const stickyTimeout = '3s'
/** Workflows whose state stays in memory, some 100 KB each. The others are replayed when they are needed. */
const cachedWorkflows = 500
/** Each is one write to PostgreSQL; more would only wait for a connection of the pool. */
const localActivitiesAtOnce = 40
/**
 * Steps of certificates, which wait for authorities. Some thousand that are asked for at once must not crowd
 * out states.
 */
const activitiesAtOnce = 20
/** The SDK's warning about a worker with activities alone, which the worker of watches is meant to be. */
const noWorkflows = 'No workflows registered, not polling for workflow tasks'
/**
 * One watch per autoscaled service lasts as long as there is nothing to do. It costs a promise and a
 * heartbeat now and then.
 */
const watchesAtOnce = 5_000
/**
 * Heartbeats are sent as often as they come, and not by their timeout: the observer knows how many there may
 * be.
 */
const heartbeatsApart = '4s'
/** Watches last, so a poll is only held open for watches that are new or over. */
const watchPollers = { type: 'autoscaling', minimum: 1, maximum: 5 } as const

export interface ControlWorkerOptions {
  readonly place: TemporalAddress
  readonly activities: ControlActivities & CertificateActivities
  /** Absent: other workers watch the services. */
  readonly autoscale?: Autoscaling
  /** The bundle that set-up made. Absent: the workflows are bundled now, which costs more than a second. */
  readonly workflowBundle?: string
  readonly log: Logger
  /** Where the SDK serves its Prometheus metrics. */
  readonly sdkMetricsAddress: string
}

export interface Autoscaling {
  readonly activities: AutoscaleActivities
  /** Called whenever work is taken: the workers that watched before may be gone. */
  readonly begin?: (sinceMs: number) => void
  /** Makes all watches fail at once. Called when no new one begins here any more. */
  readonly end: () => void
}

/**
 * The workers of the task queues `control` and `autoscale`. They run as soon as Temporal is there, and again
 * after it was away.
 */
export class ControlWorker {
  readonly #workers: readonly KeptWorker[]

  constructor(options: ControlWorkerOptions) {
    const { place, log, autoscale } = options
    Runtime.install({
      // The process itself decides what a signal means.
      shutdownSignals: [],
      logger: new DefaultLogger('WARN', ({ meta, message }) => {
        if (message !== noWorkflows) log.warn({ ...meta }, message)
      }),
      telemetryOptions: { metrics: { prometheus: { bindAddress: options.sdkMetricsAddress } } },
    })
    const control = new KeptWorker({ place, log, worker: controlWorker(options) })
    this.#workers =
      autoscale === undefined ? [control] : [control, autoscaleWorker({ place, log, autoscale })]
  }

  get polls(): boolean {
    return this.#workers.every(({ polls }) => polls)
  }

  start(): void {
    for (const worker of this.#workers) worker.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()))
  }
}

function controlWorker({ activities, workflowBundle }: ControlWorkerOptions) {
  return {
    taskQueue: controlTaskQueue,
    ...(workflowBundle === undefined
      ? { workflowsPath: path.resolve(import.meta.dirname, '../../workflows/index.ts') }
      : { workflowBundle: { codePath: workflowBundle } }),
    activities,
    maxCachedWorkflows: cachedWorkflows,
    maxConcurrentLocalActivityExecutions: localActivitiesAtOnce,
    maxConcurrentActivityTaskExecutions: activitiesAtOnce,
    stickyQueueScheduleToStartTimeout: stickyTimeout,
    shutdownGraceTime: shutdownGrace,
    shutdownForceTime: shutdownForce,
  }
}

/**
 * The worker of the task queue `autoscale`. When it stops, its watches fail at once, so that another worker
 * takes them.
 */
export function autoscaleWorker({
  place,
  log,
  autoscale,
}: Pick<ControlWorkerOptions, 'place' | 'log'> & { readonly autoscale: Autoscaling }): KeptWorker {
  const worker = {
    taskQueue: autoscaleTaskQueue,
    activities: autoscale.activities,
    maxConcurrentActivityTaskExecutions: watchesAtOnce,
    activityTaskPollerBehavior: watchPollers,
    maxHeartbeatThrottleInterval: heartbeatsApart,
    shutdownGraceTime: shutdownGrace,
    shutdownForceTime: shutdownForce,
  }
  const { begin, end } = autoscale
  return new KeptWorker({ place, log, worker, ...(begin && { onStart: begin }), onStop: end })
}
