import path from 'node:path'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import type { Logger } from 'pino'
import type { AutoscaleActivities } from '../../activities/autoscale/activities.ts'
import type { CertificateActivities } from '../../activities/certificate/activities.ts'
import type { ControlActivities } from '../../activities/control-activities.ts'
import type { HostLossActivities } from '../../activities/host/activities.ts'
import type { RolloutActivities } from '../../activities/rollout/activities.ts'
import type { ScheduleActivities } from '../../activities/schedule/activities.ts'
import { tracedActivities } from '../control/temporal-traces.ts'
import type { TemporalAddress } from '../control/temporal-control.ts'
import { autoscaleTaskQueue } from '../domain/autoscale/settings.ts'
import { controlTaskQueue } from '../domain/instance/host-work.ts'
import { KeptWorker } from './kept-worker.ts'

/**
 * How long running work may take to end once the worker stops. After that Temporal gives it to the next
 * worker.
 */
const shutdownGrace = '2s'
const shutdownForce = '3s'
/**
 * How long tasks stay on the own queue of a worker that was killed. After this time they are given to any
 * other worker.
 */
const stickyTimeout = '3s'
/**
 * The most workflows whose state stays in memory, some 100 KB each. The other workflows are replayed when
 * they are needed.
 */
const cachedWorkflows = 500
/**
 * The most local activities at once. Each is one write to PostgreSQL; more of them would only wait for a
 * connection of the pool.
 */
const localActivitiesAtOnce = 40
/**
 * The most activities at once. They are steps of certificates, which wait for authorities. Even if thousands
 * of certificates are requested at once, they must not delay the writing of states.
 */
const activitiesAtOnce = 20
/**
 * The SDK's warning about a worker that has only activities. It is dropped, because the worker of watches is
 * meant to have only activities.
 */
const noWorkflows = 'No workflows registered, not polling for workflow tasks'
/**
 * The most watches at once in this worker. One watch per autoscaled service runs for as long as there is
 * nothing to do. It costs a promise and a heartbeat now and then.
 */
const watchesAtOnce = 5_000
/**
 * The longest time for which the SDK holds a heartbeat back. Without this bound the time would follow from
 * the heartbeat timeout. The observer limits how many heartbeats there are.
 */
const heartbeatsApart = '4s'
/**
 * The number of open polls for watches. A watch lasts long, so polls are needed only when watches begin or
 * end.
 */
const watchPollers = { type: 'autoscaling', minimum: 1, maximum: 5 } as const

export interface ControlWorkerOptions {
  readonly place: TemporalAddress
  /** Without the activities of schedules, rollouts or hosts, other workers carry them out. */
  readonly activities: ControlActivities &
    CertificateActivities &
    Partial<ScheduleActivities> &
    Partial<RolloutActivities> &
    Partial<HostLossActivities>
  /** The parts of the worker that watches services. If it is absent, other workers watch them. */
  readonly autoscale?: Autoscaling
  /**
   * The bundle that set-up made. If it is absent, the workflows are bundled at the start, which takes more
   * than a second.
   */
  readonly workflowBundle?: string
  readonly log: Logger
  /** The address at which the SDK serves its Prometheus metrics. */
  readonly sdkMetricsAddress: string
}

export interface Autoscaling {
  readonly activities: AutoscaleActivities
  /**
   * Called with the worker's identity each time it begins to accept work. What is returned is called at the
   * end of that work.
   */
  readonly begin?: (id: string) => () => Promise<void>
  /** Makes all watches in this worker fail at once. Called when the worker accepts no new watch any more. */
  readonly end: () => void
}

/**
 * The workers of the task queues `control` and `autoscale`. They run as soon as Temporal can be reached, and
 * run again after Temporal was unreachable.
 */
export class ControlWorker {
  readonly #workers: readonly KeptWorker[]

  constructor(options: ControlWorkerOptions) {
    const { place, log, autoscale } = options
    Runtime.install({
      // The process itself decides what to do at a signal.
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

const workflowInterceptors = path.resolve(import.meta.dirname, '../../workflows/trace-interceptors.ts')

function controlWorker({ activities, workflowBundle }: ControlWorkerOptions) {
  return {
    taskQueue: controlTaskQueue,
    interceptors: {
      activity: [tracedActivities],
      // A bundle has its interceptors in it.
      ...(workflowBundle === undefined && { workflowModules: [workflowInterceptors] }),
    },
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
