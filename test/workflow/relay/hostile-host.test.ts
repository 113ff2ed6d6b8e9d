import assert from 'node:assert/strict'
import proto from '@temporalio/proto'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Root } from 'protobufjs'
import { inTime } from '../../support/in-time.ts'
import { startDevServer } from '../../support/temporal.ts'
import { framed, GrpcClient } from '../../support/grpc-client.ts'
import type { GrpcAnswer } from '../../support/grpc-client.ts'
import { startRelayServer } from '../../support/relay-server.ts'
import type { RelayServer } from '../../support/relay-server.ts'
import { runWorkflowWorker, startHostWork, tokenKey } from './world.ts'

const namespace = 'default'
const otherNamespace = 'other'
const limitMs = 20_000
const [ok, invalid, notFound, denied, exhausted, unimplemented] = [0, 3, 5, 7, 8, 12]
const service = '/temporal.api.workflowservice.v1.WorkflowService'
const taskMethods = [
  'RespondActivityTaskCompleted',
  'RespondActivityTaskFailed',
  'RespondActivityTaskCanceled',
  'RecordActivityTaskHeartbeat',
] as const
const relayed = new Set([
  'GetSystemInfo',
  'DescribeNamespace',
  'PollActivityTaskQueue',
  'ShutdownWorker',
  ...taskMethods,
])

describe('a host that was taken over', () => {
  let env: TestWorkflowEnvironment
  let workflows: { stop(): Promise<void> }
  const relays: RelayServer[] = []
  const clients: GrpcClient[] = []
  /** The host that was taken over, and another one. */
  let bad: GrpcClient
  let good: GrpcClient

  before(async () => {
    env = await startDevServer()
    workflows = await runWorkflowWorker(env.address, namespace)
    await env.connection.workflowService.registerNamespace({
      namespace: otherNamespace,
      workflowExecutionRetentionPeriod: {
        seconds: proto.google.protobuf.Duration.create().seconds.add(86_400),
      },
    })
    bad = await clientOf('bad')
    good = await clientOf('good')
  })

  after(async () => {
    for (const client of clients) client.close()
    for (const relay of relays) await relay.close()
    await workflows.stop()
    await env.teardown()
  })

  async function clientOf(
    hostId: string,
    { key = tokenKey, keySha256 }: { readonly key?: Uint8Array; readonly keySha256?: string } = {},
  ): Promise<GrpcClient> {
    const options = { temporal: { address: env.address, namespace }, tokenKey: key }
    const relay = await startRelayServer(hostId, options, keySha256 === undefined ? {} : { keySha256 })
    relays.push(relay)
    const client = new GrpcClient(relay.address)
    clients.push(client)
    return client
  }

  /** Makes an activity for a host, and takes it by a poll. */
  async function taken(client: GrpcClient, hostId: string) {
    const handle = await startHostWork(env.client, hostId, { activity: 'complete', input: hostId })
    const poll = client.call('PollActivityTaskQueue', { namespace, taskQueue: { name: `node-${hostId}` } })
    const answer = await inTime('a task', poll, limitMs)
    assert.equal(answer.status, ok, answer.text)
    const token = answer.message?.['taskToken'] as Buffer
    assert.ok(token.length > 32)
    return {
      handle,
      token,
      workflowId: handle.workflowId,
      activityId: String(answer.message?.['activityId']),
    }
  }

  function isDenied(answer: GrpcAnswer, what: string): void {
    assert.equal(answer.status, denied, `${what}: ${answer.status} ${answer.text}`)
    assert.match(answer.text, /^[A-Z].*\.$/, what)
  }

  const result = {
    payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('"x"') }],
  }

  it('takes work from its own queue alone', async () => {
    const queues = [
      { name: 'node-good' },
      { name: 'control' },
      { name: 'autoscale' },
      { name: 'node-bad ' },
      { name: 'NODE-BAD' },
      { name: '/_sys/node-good/0' },
      { name: '/_sys/node-bad/0' },
      { name: '' },
      { name: 'node-bad', kind: 2 },
      { name: 'node-bad', kind: 3 },
      { name: 'node-bad', kind: 2, normalName: 'node-good' },
      { name: 'node-bad', normalName: 'node-good' },
    ]
    for (const taskQueue of queues) {
      const answer = await bad.call('PollActivityTaskQueue', { namespace, taskQueue })
      isDenied(answer, JSON.stringify(taskQueue))
    }
    assert.equal((await bad.call('PollActivityTaskQueue', { namespace })).status, invalid)
    const stopped = { namespace, taskQueue: 'node-good' }
    isDenied(await bad.call('ShutdownWorker', stopped), 'the end of another worker')
  })

  it('leaves the queue of the last field that names one, and passes nothing that it added', async () => {
    // Of two fields with the same number the last one counts, for the relay and for Temporal alike.
    const type = (proto as unknown as Root).lookupType(
      'temporal.api.workflowservice.v1.PollActivityTaskQueueRequest',
    )
    const own = type.encode(type.fromObject({ namespace, taskQueue: { name: 'node-bad' } })).finish()
    const other = type.encode(type.fromObject({ taskQueue: { name: 'node-good' } })).finish()
    const both = await bad.call('PollActivityTaskQueue', {}, { body: framed(Buffer.concat([own, other])) })
    isDenied(both, 'two queues in one message')

    // The limit would go on applying to the queue, and no task would ever come.
    const slowed = {
      namespace,
      taskQueue: { name: 'node-bad' },
      taskQueueMetadata: { maxTasksPerSecond: { value: 0 } },
    }
    const versioned = {
      workerVersionCapabilities: { buildId: 'mine', useVersioning: true },
      deploymentOptions: { deploymentName: 'mine', buildId: '1', workerVersioningMode: 2 },
      workerControlTaskQueue: 'node-good',
    }
    const handle = await startHostWork(env.client, 'bad', { activity: 'complete', input: 'slow' })
    const answer = await inTime(
      'a task',
      bad.call('PollActivityTaskQueue', { ...slowed, ...versioned }),
      limitMs,
    )
    assert.equal(answer.status, ok, answer.text)
    const taskToken = answer.message?.['taskToken']
    const done = await bad.call('RespondActivityTaskCompleted', { namespace, taskToken, result })
    assert.equal(done.status, ok, done.text)
    assert.equal(await inTime('a result', handle.result(), limitMs), 'x')
  })

  it('can not touch the task of another host, whatever token it shows', async () => {
    const task = await taken(good, 'good')
    const own = await taken(bad, 'bad')
    const swapped = Buffer.concat([own.token.subarray(0, 32), task.token.subarray(32)])
    const flipped = Buffer.from(own.token)
    flipped[flipped.length - 1]! ^= 1
    const tokens = {
      'the token of the other host': task.token,
      'the bare token': task.token.subarray(32),
      "the other task under its own task's hash": swapped,
      'its own token with one bit changed': flipped,
      'a hash alone': own.token.subarray(0, 32),
      'random bytes': randomBytes(200),
      'no bytes': Buffer.alloc(0),
      'a very long token': Buffer.concat([task.token, Buffer.alloc(10_000)]),
    }
    for (const method of taskMethods) {
      for (const [what, taskToken] of Object.entries(tokens)) {
        isDenied(await bad.call(method, { namespace, taskToken }), `${method} with ${what}`)
      }
      const { workflowId, activityId } = task
      isDenied(await bad.call(`${method}ById`, { namespace, workflowId, activityId }), `${method}ById`)
    }
    // Nothing of that reached the task, and each host can still complete its own.
    for (const [client, one] of [
      [good, task],
      [bad, own],
    ] as const) {
      const beat = await client.call('RecordActivityTaskHeartbeat', { namespace, taskToken: one.token })
      assert.deepEqual([beat.status, beat.message?.['cancelRequested']], [ok, undefined], beat.text)
      const done = await client.call('RespondActivityTaskCompleted', {
        namespace,
        taskToken: one.token,
        result,
      })
      assert.equal(done.status, ok, done.text)
      assert.equal(await inTime('a result', one.handle.result(), limitMs), 'x')
      const again = await client.call('RespondActivityTaskCompleted', {
        namespace,
        taskToken: one.token,
        result,
      })
      assert.equal(again.status, notFound)
    }
  })

  it('has its tasks taken back by every relay with the same key, and by no other', async () => {
    const task = await taken(bad, 'bad')
    const message = { namespace, taskToken: task.token, result }
    const foreign = await clientOf('bad', { key: randomBytes(32) })
    isDenied(await foreign.call('RespondActivityTaskCompleted', message), 'a relay with another key')
    const second = await clientOf('bad')
    assert.equal((await second.call('RespondActivityTaskCompleted', message)).status, ok)
    assert.equal(await inTime('a result', task.handle.result(), limitMs), 'x')
  })

  it('can not use its tasks any more once its id belongs to another machine, nor can that use them', async () => {
    const task = await taken(bad, 'bad')
    const message = { namespace, taskToken: task.token, result }
    const successor = await clientOf('bad', { keySha256: 'the key of another machine' })
    for (const method of taskMethods) isDenied(await successor.call(method, message), method)
    const own = await taken(successor, 'bad')
    for (const method of taskMethods)
      isDenied(await bad.call(method, { ...message, taskToken: own.token }), method)
    for (const [client, one] of [
      [bad, task],
      [successor, own],
    ] as const) {
      const done = await client.call('RespondActivityTaskCompleted', { ...message, taskToken: one.token })
      assert.equal(done.status, ok, done.text)
      assert.equal(await inTime('a result', one.handle.result(), limitMs), 'x')
    }
  })

  it('gets no method but the few of a worker', async () => {
    const root = proto as unknown as Root
    const methods = Object.keys(root.lookupService('temporal.api.workflowservice.v1.WorkflowService').methods)
    const refused = methods.filter((name) => !relayed.has(name))
    assert.ok(refused.length > 80)
    const task = await taken(good, 'good')
    const execution = { workflowId: task.workflowId }
    const message = { namespace, workflowExecution: execution, execution, signalName: 'x', workflowId: 'y' }
    for (const name of refused) {
      const body = framed(
        root.lookupType(`temporal.api.workflowservice.v1.${name}Request`).encode(message).finish(),
      )
      isDenied(await bad.call(name, {}, { body }), name)
    }
    const events = (await task.handle.fetchHistory()).events?.map((event) => event.eventType)
    assert.ok(events?.every((type) => Number(type) !== 9 && Number(type) !== 27))
    const paths = [
      '/',
      `${service}/`,
      `${service}/toString`,
      `${service}/__proto__`,
      `${service}/x/GetSystemInfo`,
    ]
    const others = [
      '/grpc.health.v1.Health/Check',
      '/temporal.api.operatorservice.v1.OperatorService/DeleteNamespace',
    ]
    for (const path of [...paths, ...others, `${service}/GetSystemInfo?`, `/x${service}/GetSystemInfo`]) {
      isDenied(await bad.call('GetSystemInfo', {}, { path }), path)
    }
    await good.call('RespondActivityTaskCompleted', { namespace, taskToken: task.token, result })
    await task.handle.result()
  })

  it('sees no namespace but that of the platform, and of that only what a worker needs', async () => {
    const task = await taken(bad, 'bad')
    for (const other of [otherNamespace, '', 'temporal-system', 'default ']) {
      isDenied(await bad.call('DescribeNamespace', { namespace: other }), other)
      isDenied(
        await bad.call('PollActivityTaskQueue', { namespace: other, taskQueue: { name: 'node-bad' } }),
        other,
      )
      isDenied(await bad.call('ShutdownWorker', { namespace: other, taskQueue: 'node-bad' }), other)
      for (const method of taskMethods) {
        isDenied(await bad.call(method, { namespace: other, taskToken: task.token }), `${method} in ${other}`)
      }
    }
    const { message } = await bad.call('DescribeNamespace', { namespace, id: 'another' })
    assert.deepEqual(Object.keys(message ?? {}), ['namespaceInfo'])
    const info = message?.['namespaceInfo'] as Record<string, unknown>
    assert.equal(info['name'], namespace)
    await bad.call('RespondActivityTaskCompleted', { namespace, taskToken: task.token, result })
  })

  it('is refused what is too large, compressed, or no message', async () => {
    const name = 'RespondActivityTaskCompleted'
    const large = await bad.call(name, {}, { body: framed(Buffer.alloc(4 * 1024 * 1024 + 1)) })
    assert.equal(large.status, exhausted)
    assert.match(large.text, /^grpc: received message larger than max \(4194305 vs\. 4194304\)/)
    const most = await bad.call(name, {}, { body: framed(Buffer.alloc(4 * 1024 * 1024)) })
    assert.equal(most.status, invalid)

    const groups = Buffer.alloc(100_000, 0x0b)
    const many = Buffer.alloc(2_000_000, Buffer.from([0x0a, 0x00]))
    const bodies = [Buffer.from('ffffffffffffffffff', 'hex'), groups, many, Buffer.from('0aff', 'hex')]
    for (const body of bodies) {
      const answer = await bad.call(name, {}, { body: framed(body) })
      assert.deepEqual([answer.status, answer.text], [invalid, 'The message can not be read.'])
    }
    const cut = framed(Buffer.alloc(100)).subarray(0, 50)
    for (const body of [
      Buffer.alloc(0),
      Buffer.alloc(3),
      cut,
      Buffer.concat([framed(Buffer.alloc(2)), cut]),
    ]) {
      assert.equal((await bad.call(name, {}, { body })).status, invalid)
    }

    const packed = framed(gzipSync(Buffer.alloc(10)))
    const said = await bad.call('GetSystemInfo', {}, { body: packed, headers: { 'grpc-encoding': 'gzip' } })
    packed[0] = 1
    const hidden = await bad.call('GetSystemInfo', {}, { body: packed })
    for (const answer of [said, hidden]) {
      assert.equal(answer.status, unimplemented)
      assert.match(answer.text, /grpc-encoding/)
    }
    const typed = await bad.call('GetSystemInfo', {}, { headers: { 'content-type': 'text/html' } })
    assert.equal(typed.status, invalid)
  })

  it('has a limit of calls and of memory, and other hosts do not notice', async () => {
    const busy = await clientOf('busy')
    const half = Array.from({ length: 9 }, () => {
      const stream = busy.begin(`${service}/RespondActivityTaskCompleted`)
      stream.on('error', () => undefined)
      const status = new Promise((resolve) => {
        stream.on('response', (fields) => resolve(Number(fields['grpc-status'])))
      })
      stream.write(framed(Buffer.alloc(4 * 1024 * 1024)).subarray(0, 100))
      return { stream, status }
    })
    assert.equal(
      await inTime('a refusal', Promise.race(half.map(({ status }) => status)), limitMs),
      exhausted,
    )
    for (const { stream } of half) stream.close()

    const calls = await Promise.all(Array.from({ length: 2_000 }, () => busy.call('GetSystemInfo')))
    const statuses = new Set(calls.map(({ status }) => status))
    assert.deepEqual(statuses, new Set([ok, exhausted]))
    assert.equal((await good.call('GetSystemInfo')).status, ok)
    const logged = relays.map((relay) => relay.logged.length)
    assert.ok(Math.max(...logged) < 200, `${Math.max(...logged)} lines in a log`)
  })
})
