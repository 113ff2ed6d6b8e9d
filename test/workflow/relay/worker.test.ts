import assert from 'node:assert/strict'
import { ActivityFailure, ApplicationFailure, CancelledFailure } from '@temporalio/common'
import { WorkflowFailedError } from '@temporalio/client'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { inTime } from '../../support/in-time.ts'
import { startDevServer } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { GrpcClient } from '../../support/grpc-client.ts'
import { startRelayServer } from '../../support/relay-server.ts'
import type { RelayServer } from '../../support/relay-server.ts'
import { HostActivities, runHostWorker, runWorkflowWorker, startHostWork, tokenKey } from './world.ts'

const hostId = 'host-a'
const namespace = 'default'
const limitMs = 20_000

describe("a host's worker behind the relay", () => {
  let env: TestWorkflowEnvironment
  let relay: RelayServer
  let workflows: { stop(): Promise<void> }

  before(async () => {
    env = await startDevServer()
    workflows = await runWorkflowWorker(env.address, namespace)
  })

  after(async () => {
    await workflows.stop()
    await env.teardown()
  })

  beforeEach(async () => {
    relay = await startRelayServer(hostId, { temporal: { address: env.address, namespace }, tokenKey })
  })

  afterEach(() => relay.close())

  const place = () => ({ address: relay.address, namespace, hostId })

  it('completes, fails and cancels activities as it does without one, and stops at once', async () => {
    const host = new HostActivities()
    const worker = await runHostWorker(place(), host.activities)
    const { client } = env
    const completed = await startHostWork(client, hostId, { activity: 'complete', input: 'one' })
    assert.equal(await inTime('a result', completed.result(), limitMs), 'done: one')

    const failed = await startHostWork(client, hostId, { activity: 'fail', input: 'two', attempts: 2 })
    await assert.rejects(inTime('a failure', failed.result(), limitMs), (error) => {
      assert.ok(error instanceof WorkflowFailedError && error.cause instanceof ActivityFailure)
      assert.ok(error.cause.cause instanceof ApplicationFailure)
      assert.equal(error.cause.cause.message, 'failed: two')
      return true
    })
    assert.deepEqual(host.begun, ['one', 'two', 'two'])

    const cancelled = await startHostWork(client, hostId, { activity: 'wait', input: 'three' })
    await until('the activity runs', () => host.begun.includes('three'), { limitMs })
    await cancelled.cancel()
    await assert.rejects(inTime('a cancellation', cancelled.result(), limitMs), (error) => {
      return error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure
    })
    assert.deepEqual(host.cancelled, ['three'])

    const { ms } = await worker.stop()
    assert.ok(ms < 5_000, `the worker stopped after ${ms} ms`)
    // Nothing that a worker does by itself is refused, apart from compression, which is not logged.
    assert.deepEqual(relay.logged, [])
  })

  it('keeps an activity alive by heartbeats, and Temporal shows which host has it', async () => {
    const host = new HostActivities()
    const worker = await runHostWorker(place(), host.activities)
    const work = { activity: 'wait', input: 'beat', heartbeatTimeoutMs: 1_500 }
    const handle = await startHostWork(env.client, hostId, work)
    const pending = await until(
      'a heartbeat arrives',
      async () => {
        const found = (await handle.describe()).raw.pendingActivities?.[0]
        return found?.heartbeatDetails ? found : undefined
      },
      { limitMs },
    )
    assert.equal(pending.lastWorkerIdentity, `host ${hostId}`)
    await until('the heartbeat timeout passes twice', () => pastMs(pending.lastStartedTime) > 3_000, {
      limitMs,
    })
    host.release('beat')
    assert.equal(await inTime('a result', handle.result(), limitMs), 'released: beat')
    await worker.stop()
  })

  it('takes polls back from Temporal when the connection of the host breaks', async () => {
    const client = new GrpcClient(relay.address)
    const message = { namespace, taskQueue: { name: `node-${hostId}` } }
    const polls = [1, 2, 3].map(() => client.call('PollActivityTaskQueue', message))
    await until('the host polls', async () => (await pollers()) > 0, { limitMs })
    client.close()
    await Promise.all(polls)
    // A poll that was left behind at Temporal would take the task, and nobody would do it.
    const handle = await startHostWork(env.client, hostId, { activity: 'complete', input: 'later' })
    const worker = await runHostWorker(place(), new HostActivities().activities)
    assert.equal(await inTime('a result', handle.result(), limitMs), 'done: later')
    await worker.stop()
  })

  it('goes on with an activity over another relay with the same key', async () => {
    const host = new HostActivities()
    const worker = await runHostWorker(place(), host.activities)
    const handle = await startHostWork(env.client, hostId, { activity: 'wait', input: 'moved' })
    await until('the activity runs', () => host.begun.includes('moved'), { limitMs })
    const port = Number(relay.address.split(':')[1])
    await inTime('the relay closes', relay.close(), limitMs)
    relay = await startRelayServer(
      hostId,
      { temporal: { address: env.address, namespace }, tokenKey },
      { port },
    )
    host.release('moved')
    assert.equal(await inTime('a result', handle.result(), limitMs), 'released: moved')
    const after = await startHostWork(env.client, hostId, { activity: 'complete', input: 'after' })
    assert.equal(await inTime('a result', after.result(), limitMs), 'done: after')
    await worker.stop()
  })

  async function pollers(): Promise<number> {
    const found = await env.connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: `node-${hostId}` },
      taskQueueType: 2,
    })
    return found.pollers?.length ?? 0
  }
})

function pastMs(time: { readonly seconds?: unknown } | null | undefined): number {
  return Date.now() - Number(time?.seconds) * 1_000
}
