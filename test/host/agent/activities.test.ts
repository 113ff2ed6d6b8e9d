import assert from 'node:assert/strict'
import { ApplicationFailure, CancelledFailure } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createHostActivities, createMoveActivities } from '../../../activities/host-activities.ts'
import { HostFailure } from '../../../src/domain/instance/host-work.ts'
import type { MoveActivities, StandByResult, StartResult } from '../../../src/domain/instance/host-work.ts'
import { seen, TestGateway } from '../leases/gateway.ts'
import { instance, MoveScene, newPlace, oldPlace, slept } from './move-scene.ts'
import { Machine, uuid } from './machine.ts'

type Held = Awaited<ReturnType<MoveActivities['holdInstance']>>

const boot = { instanceUuid: uuid, boot: 1 }

function mockEnvironment(): MockActivityEnvironment {
  return new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
}

describe('the activities of a host', () => {
  let machine: Machine
  beforeEach(async () => {
    machine = await Machine.make()
  })
  afterEach(async () => {
    await machine.remove()
  })

  it('start, stop and remove an instance', async () => {
    const { agent } = await machine.readyAgent()
    const activities = createHostActivities({ agent })
    const environment = mockEnvironment()
    const { started }: StartResult = await environment.run(activities.startInstance, boot)
    assert.equal(started.boot, 1)
    await environment.run(activities.stopInstance, { ...boot, forced: true, graceMs: 0 })
    await environment.run(activities.removeInstance, { instanceUuid: uuid })
    assert.equal(machine.host.statuses().length, 0)
  })

  it('a failure carries its kind as the type, and is not repeated if a repeat can not help', async () => {
    for (const [failure, nonRetryable] of [
      [HostFailure.ImageUnusable, true],
      [HostFailure.QuotaExceeded, true],
      [HostFailure.ImageUnavailable, false],
    ] as const) {
      const { agent } = await machine.readyAgent({ images: { fail: { nth: 1, failure } } })
      const run = mockEnvironment().run(createHostActivities({ agent }).startInstance, boot)
      await assert.rejects(run, (error: unknown) => {
        assert.ok(error instanceof ApplicationFailure)
        assert.deepEqual([error.type, error.nonRetryable], [failure, nonRetryable])
        return true
      })
    }
  })

  it('a cancelled start leaves no VM', async () => {
    const { agent } = await machine.readyAgent({ vmm: { hangStart: 1 } })
    const environment = mockEnvironment()
    const run = environment.run(createHostActivities({ agent }).startInstance, boot)
    run.catch(() => undefined)
    await machine.host.firstVm()
    environment.cancel('CANCELLED', {
      cancelRequested: true,
      notFound: false,
      paused: false,
      reset: false,
      timedOut: false,
      workerShutdown: false,
    })
    await assert.rejects(run, CancelledFailure)
    assert.equal(machine.host.running(), 0)
  })

  it('an attempt that only lost its heartbeat leaves the start to the next attempt', async () => {
    const { agent } = await machine.readyAgent({ vmm: { bootMs: 100 } })
    const { startInstance } = createHostActivities({ agent })
    const environment = mockEnvironment()
    const run = environment.run(startInstance, boot)
    run.catch(() => undefined)
    await machine.host.firstVm()
    environment.cancel('TIMED_OUT', {
      cancelRequested: false,
      notFound: false,
      paused: false,
      reset: false,
      timedOut: true,
      workerShutdown: false,
    })
    await assert.rejects(run, CancelledFailure)
    await mockEnvironment().run(startInstance, boot)
    assert.equal(machine.host.starts, 1)
    assert.equal(machine.host.running(uuid), 1)
  })

  it('send an instance to standby, and answer a refusal as a value', async () => {
    machine.scalesToZero({ policy: 'on', cooldownMs: 0, stateful: false })
    const { agent } = await machine.readyAgent()
    const { startInstance, standByInstance } = createHostActivities({ agent })
    await mockEnvironment().run(startInstance, boot)
    const order = { ...boot, epoch: 1, permit: 2, stateful: false, graceMs: 0 }
    assert.deepEqual(await mockEnvironment().run(standByInstance, order), { slept: false, reason: 'busy' })
    machine.nowMs += 10_000
    agent.leases.tick()
    const epoch = agent.entries.get(uuid)?.hostLease.idle?.epoch ?? 0
    const result: StandByResult = await mockEnvironment().run(standByInstance, { ...order, epoch })
    assert.equal(result.slept, true)
  })

  it('a drain that is cancelled lets traffic in again; one that only lost its heartbeat goes on', async () => {
    for (const [cancelRequested, phase] of [
      [true, 'running'],
      [false, 'draining'],
    ] as const) {
      await machine.remove()
      machine = await Machine.make()
      const live = await machine.readyAgent()
      await live.agent.start(boot)
      const gateway = new TestGateway(live).connect()
      await gateway.opened()
      const environment = mockEnvironment()
      const run = environment.run(createHostActivities(live).drainInstance, boot)
      run.catch(() => undefined)
      await gateway.next('drain')
      environment.cancel(cancelRequested ? 'CANCELLED' : 'TIMED_OUT', {
        cancelRequested,
        notFound: false,
        paused: false,
        reset: false,
        timedOut: !cancelRequested,
        workerShutdown: false,
      })
      await assert.rejects(run, CancelledFailure)
      assert.equal(live.agent.entries.get(uuid)?.hostLease.phase, phase)
    }
  })
})

describe('the activities of hosts for a move', () => {
  let scene: MoveScene

  beforeEach(async () => {
    scene = await MoveScene.make()
    await scene.asleep()
  })
  afterEach(async () => {
    await scene.remove()
  })

  it('hold, fetch, release and take an instance', async () => {
    await scene.openNew()
    const from = createMoveActivities(scene.oldLive.agent)
    const to = createMoveActivities(scene.newLive.agent)
    const held: Held = await mockEnvironment().run(from.holdInstance, { ...slept, to: newPlace })
    assert.ok(held.held)
    const input = { ...slept, from: { ...oldPlace, port: held.port } }
    assert.deepEqual(await mockEnvironment().run(to.fetchInstance, input), { memory: 'kept' })
    await mockEnvironment().run(from.releaseInstance, instance)
    assert.deepEqual(scene.phases(), ['asleep', 'held'])
    await mockEnvironment().run(from.holdInstance, { ...slept, to: newPlace })
    scene.moveRow()
    await mockEnvironment().run(to.takeInstance, instance)
    assert.deepEqual(scene.phases()[1], 'asleep')
  })

  it('a fetch that the workflow calls off ends, and leaves nothing', async () => {
    const port = await scene.hold()
    await scene.openNew({ images: { pull: async () => await new Promise(() => undefined) } })
    const environment = mockEnvironment()
    const { fetchInstance } = createMoveActivities(scene.newLive.agent)
    const run = environment.run(fetchInstance, { ...slept, from: { ...oldPlace, port } })
    run.catch(() => undefined)
    await seen('it is under way', () => scene.newLive.agent.moves.isFetching(uuid))
    environment.cancel('CANCELLED', {
      cancelRequested: true,
      notFound: false,
      paused: false,
      reset: false,
      timedOut: false,
      workerShutdown: false,
    })
    await assert.rejects(run)
    await seen('it is over', () => !scene.newLive.agent.moves.isFetching(uuid))
    assert.equal(scene.newLive.agent.entries.has(uuid), false)
  })
})
