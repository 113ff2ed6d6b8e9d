import { strict as assert } from 'node:assert'
import process from 'node:process'
import { TestWorkflowEnvironment } from '@temporalio/testing'
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker'
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker'
import path from 'node:path'
import type { AutoscaleActivities } from '../../activities/autoscale/activities.ts'
import type { CertificateActivities } from '../../activities/certificate/activities.ts'
import type { ControlActivities } from '../../activities/control-activities.ts'
import type { HostLossActivities } from '../../activities/host/activities.ts'
import type { RolloutActivities } from '../../activities/rollout/activities.ts'
import type { ScheduleActivities } from '../../activities/schedule/activities.ts'
import { autoscaleTaskQueue } from '../../src/domain/autoscale/settings.ts'
import { controlTaskQueue, nodeTaskQueue } from '../../src/domain/instance/host-work.ts'
import type { HostActivities, VolumeActivities } from '../../src/domain/instance/host-work.ts'
import { readInstalled } from '../../src/launch/installed.ts'
import type { Installed } from '../../src/launch/installed.ts'
import {
  readDynamicConfig,
  readNamespaceConfig,
  searchAttributeKinds,
} from '../../src/launch/services/temporal-config.ts'

const workflowsPath = path.resolve(import.meta.dirname, '../../workflows/index.ts')
const interceptorsPath = path.resolve(import.meta.dirname, '../../workflows/trace-interceptors.ts')

const startAttempts = 5
const patienceMs = 30_000
/** The longest time between heartbeats. A watch learns with a heartbeat that it is called off. */
const heartbeatsApart = '200ms'

Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, console: {} } },
  shutdownSignals: [],
})

let bundle: Promise<WorkflowBundleWithSourceMap> | undefined

/** The workflows as they are now, bundled once per process. */
export function currentBundle(): Promise<WorkflowBundleWithSourceMap> {
  bundle ??= bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: [interceptorsPath],
    logger: new DefaultLogger('ERROR'),
  })
  return bundle
}

/** Starts a server that skips time: waits of hours end at once. */
export async function startTimeSkipping(): Promise<TestWorkflowEnvironment> {
  const path = programOf('testServer', 'ROOST_TEMPORAL_TEST_SERVER')
  const env = await inTime(() =>
    TestWorkflowEnvironment.createTimeSkipping({ server: { executable: { type: 'existing-path', path } } }),
  )
  await registerAttributes(env)
  // On a busy machine, calls to this kind of server may take longer than Roost waits for Temporal.
  const client = env.client.withDeadline.bind(env.client)
  env.client.withDeadline = (_deadline, call) => client(Date.now() + patienceMs, call)
  return env
}

/** Starts the dev server with the configuration of `temporal-config/`, in memory, on a port of its own. */
export async function startDevServer(): Promise<TestWorkflowEnvironment> {
  const path = programOf('temporalCli', 'ROOST_TEMPORAL_CLI')
  const extraArgs = readDynamicConfig().flatMap(({ key, json }) => [
    '--dynamic-config-value',
    `${key}=${json}`,
  ])
  const env = await inTime(() =>
    TestWorkflowEnvironment.createLocal({
      server: { executable: { type: 'existing-path', path }, extraArgs },
    }),
  )
  await registerAttributes(env)
  return env
}

/**
 * Tries a start again if it came too late. The SDK gives a server 5 s to start and ends it after that; a
 * busy machine may need longer.
 */
async function inTime<T>(start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      const late = error instanceof Error && error.message.includes('did not start within')
      if (!late || attempt === startAttempts) throw error
    }
  }
}

async function registerAttributes(env: TestWorkflowEnvironment): Promise<void> {
  const { searchAttributes } = readNamespaceConfig()
  await env.connection.operatorService.addSearchAttributes({
    namespace: env.namespace ?? 'default',
    searchAttributes: Object.fromEntries(
      Object.entries(searchAttributes).map(([name, kind]) => [name, searchAttributeKinds[kind]]),
    ),
  })
}

function programOf(name: keyof Installed, variable: string): string {
  const found = process.env[variable] ?? readInstalled()[name]
  assert.ok(found, `${name} is not installed; npm run setup -- --tests gets it, or name one in ${variable}`)
  return found
}

export interface RunningWorkers {
  stop(): Promise<void>
}

/**
 * Runs workers for the queues `control` and `autoscale` and for each host's queue, as far as the test has
 * activities for them.
 */
export async function runWorkers(
  env: TestWorkflowEnvironment,
  work: {
    readonly control?: Partial<
      ControlActivities & CertificateActivities & ScheduleActivities & RolloutActivities & HostLossActivities
    >
    readonly autoscale?: Partial<AutoscaleActivities>
    readonly hosts?: Readonly<Record<string, Partial<HostActivities & VolumeActivities>>>
  },
): Promise<RunningWorkers> {
  const base = { connection: env.nativeConnection, namespace: env.namespace ?? 'default' }
  const workers: Worker[] = []
  if (work.control !== undefined) {
    const options = {
      taskQueue: controlTaskQueue,
      activities: work.control,
      workflowBundle: await currentBundle(),
    }
    workers.push(await Worker.create({ ...base, ...options }))
  }
  if (work.autoscale !== undefined) {
    const options = {
      taskQueue: autoscaleTaskQueue,
      activities: work.autoscale,
      maxHeartbeatThrottleInterval: heartbeatsApart,
    }
    workers.push(await Worker.create({ ...base, ...options }))
  }
  for (const [nodeId, activities] of Object.entries(work.hosts ?? {})) {
    workers.push(await Worker.create({ ...base, taskQueue: nodeTaskQueue(nodeId), activities }))
  }
  const runs = workers.map((worker) => worker.run())
  return {
    async stop() {
      for (const worker of workers) worker.shutdown()
      await Promise.all(runs)
    },
  }
}
