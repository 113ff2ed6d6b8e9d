import { Context } from '@temporalio/activity'
import type { Client, WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'
import { randomBytes, randomUUID } from 'node:crypto'
import path from 'node:path'
import { nodeTaskQueue } from '../../../src/domain/instance/host-work.ts'
import { tracedActivities } from '../../../src/control/temporal-traces.ts'
import type { HostWork, hostWork } from './host-work.ts'

export const tokenKey = randomBytes(32)
const workflowQueue = 'relay-tests'

/** What the activities of a test's host do, and what they are told. */
export class HostActivities {
  /** The inputs of the activities that have begun, the newest last. */
  readonly begun: string[] = []
  readonly cancelled: string[] = []
  readonly #releases = new Map<string, () => void>()

  readonly activities = {
    complete: async (input: string) => {
      this.begun.push(input)
      return `done: ${input}`
    },
    fail: async (input: string) => {
      this.begun.push(input)
      throw new Error(`failed: ${input}`)
    },
    /** Heartbeats until the test releases it or the workflow is cancelled. */
    wait: async (input: string) => {
      const context = Context.current()
      const beats = setInterval(() => context.heartbeat(input), 50)
      const released = new Promise<void>((resolve) => this.#releases.set(input, resolve))
      this.begun.push(input)
      try {
        await Promise.race([released, context.cancelled])
        return `released: ${input}`
      } catch (error) {
        this.cancelled.push(input)
        throw error
      } finally {
        clearInterval(beats)
      }
    },
  }

  release(input: string): void {
    this.#releases.get(input)?.()
  }
}

export interface RunningWorker {
  /** Shuts the worker down. Resolves with the time that took. */
  stop(): Promise<{ readonly ms: number }>
}

/** Runs a worker of activities with the options of the agent. */
export async function runHostWorker(
  place: { readonly address: string; readonly namespace: string; readonly hostId: string },
  activities: HostActivities['activities'],
): Promise<RunningWorker> {
  const connection = await NativeConnection.connect({ address: place.address })
  const worker = await Worker.create({
    connection,
    namespace: place.namespace,
    taskQueue: nodeTaskQueue(place.hostId),
    activities,
    interceptors: { activity: [tracedActivities] },
    activityTaskPollerBehavior: { type: 'autoscaling', minimum: 1, maximum: 5 },
    maxConcurrentActivityTaskExecutions: 500,
    shutdownGraceTime: '1s',
    shutdownForceTime: '1s',
    maxHeartbeatThrottleInterval: '100ms',
  })
  const run = worker.run()
  return {
    async stop() {
      const fromMs = performance.now()
      if (worker.getState() === 'RUNNING') worker.shutdown()
      await run
      await connection.close()
      return { ms: performance.now() - fromMs }
    },
  }
}

/** Runs a worker for the workflow of these tests, with a connection of its own to Temporal. */
export async function runWorkflowWorker(
  address: string,
  namespace: string,
): Promise<{ stop(): Promise<void> }> {
  const connection = await NativeConnection.connect({ address })
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue: workflowQueue,
    workflowsPath: path.join(import.meta.dirname, 'host-work.ts'),
  })
  const run = worker.run()
  return {
    async stop() {
      worker.shutdown()
      await run
      await connection.close()
    },
  }
}

export async function startHostWork(
  client: Client,
  hostId: string,
  work: Omit<HostWork, 'taskQueue'>,
): Promise<WorkflowHandleWithFirstExecutionRunId<typeof hostWork>> {
  return await client.workflow.start<typeof hostWork>('hostWork', {
    taskQueue: workflowQueue,
    workflowId: `relay/${randomUUID()}`,
    args: [{ ...work, taskQueue: nodeTaskQueue(hostId) }],
  })
}
