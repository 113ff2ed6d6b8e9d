import assert from 'node:assert/strict'
import { ApplicationFailure, CancelledFailure } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createVolumeActivities } from '../../../activities/host-activities.ts'
import type { VolumeActivities } from '../../../src/domain/instance/host-work.ts'
import { seen } from '../leases/gateway.ts'
import { Machine, uuid, volumeUuid } from '../agent/machine.ts'
import { WatchedVolumes } from './agent-volume-watch.ts'

const volume = { volumeUuid, sizeMb: 10 }

function mockEnvironment(): MockActivityEnvironment {
  return new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
}

function cancellation(cancelRequested: boolean): Parameters<MockActivityEnvironment['cancel']>[1] {
  const other = { notFound: false, paused: false, reset: false, workerShutdown: false }
  return { ...other, cancelRequested, timedOut: !cancelRequested }
}

describe('the activities of a host for volumes', () => {
  let machine: Machine
  beforeEach(async () => {
    machine = await Machine.make()
  })
  afterEach(async () => {
    await machine.remove()
  })

  async function activities(): Promise<VolumeActivities> {
    return createVolumeActivities((await machine.readyAgent()).agent)
  }

  it('make, repair and remove a volume, as often as they are asked', async () => {
    const { makeVolume, repairVolume, removeVolume } = await activities()
    await mockEnvironment().run(makeVolume, volume)
    await mockEnvironment().run(makeVolume, volume)
    assert.deepEqual(machine.volumes.made.get(volumeUuid), { sizeMb: 10 })
    machine.volumes.damaged.add(volumeUuid)
    await mockEnvironment().run(repairVolume, { volumeUuid })
    assert.equal(machine.volumes.damaged.size, 0)
    await mockEnvironment().run(removeVolume, { volumeUuid })
    await mockEnvironment().run(removeVolume, { volumeUuid })
    assert.equal(machine.volumes.made.size, 0)
  })

  it('fail with the kind of the failure, and for good if another attempt can not mend it', async () => {
    machine.volumes = new WatchedVolumes(machine, { totalMb: 5 })
    const { makeVolume, repairVolume } = await activities()
    for (const [run, failure, nonRetryable] of [
      [mockEnvironment().run(makeVolume, volume), 'HostFull', false],
      [mockEnvironment().run(repairVolume, { volumeUuid }), 'VolumeUnusable', true],
    ] as const) {
      await assert.rejects(run, (error: unknown) => {
        assert.ok(error instanceof ApplicationFailure)
        assert.deepEqual([error.type, error.nonRetryable], [failure, nonRetryable])
        return true
      })
    }
  })

  it('that are cancelled end before they report it; one that only lost its heartbeat goes on', async () => {
    for (const cancelRequested of [true, false]) {
      machine.volumes = new WatchedVolumes(machine, { hang: ['make'] })
      const { makeVolume } = await activities()
      const environment = mockEnvironment()
      const run = environment.run(makeVolume, volume)
      run.catch(() => undefined)
      await seen('it is at work', () => machine.volumes.calls.length === 1)
      environment.cancel(cancelRequested ? 'CANCELLED' : 'TIMED_OUT', cancellation(cancelRequested))
      await assert.rejects(run, CancelledFailure)
      assert.equal(machine.volumes.aborted, cancelRequested)
    }
  })

  it('wait with a removal for the instance that is ending and still has the volume', async () => {
    machine.attach(uuid)
    const { agent } = await machine.readyAgent()
    await agent.start({ instanceUuid: uuid, boot: 1 })
    const removing = mockEnvironment().run(createVolumeActivities(agent).removeVolume, { volumeUuid })
    await seen('it was refused', () => machine.volumes.refused > 0)
    assert.equal(machine.volumes.made.size, 1)
    await agent.remove({ instanceUuid: uuid })
    await removing
    assert.equal(machine.volumes.made.size, 0)
  })

  it('remove a volume for good: a start that was asked for before does not make it again', async () => {
    machine.attach(uuid, { made: false })
    const { agent } = await machine.readyAgent()
    await mockEnvironment().run(createVolumeActivities(agent).removeVolume, { volumeUuid })
    await assert.rejects(agent.start({ instanceUuid: uuid, boot: 1 }), /the volume is deleted/)
    assert.equal(machine.volumes.made.size, 0)
  })

  it('make nothing if an instance holds the volume, because it was complete', async () => {
    machine.attach(uuid)
    const { agent } = await machine.readyAgent()
    await agent.start({ instanceUuid: uuid, boot: 1 })
    machine.volumes.made.delete(volumeUuid)
    await mockEnvironment().run(createVolumeActivities(agent).makeVolume, volume)
    assert.equal(machine.volumes.made.size, 0)
  })
})
