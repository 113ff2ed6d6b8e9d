import assert from 'node:assert/strict'
import { VolumeError } from '../../../src/host/volumes/volumes.ts'
import type { VolumeHold, Volumes } from '../../../src/host/volumes/volumes.ts'

export interface VolumesUnderTest {
  readonly volumes: Volumes
  /** Opens the volumes like a next agent on the same host and directory. */
  readonly again: () => Promise<Volumes>
  /** Damages a volume so that a check can not mend it, but a repair can. */
  readonly damage: (volumeUuid: string) => Promise<void>
  /** Deletes a volume's file. */
  readonly lose: (volumeUuid: string) => Promise<void>
}

export const volumeUuid = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
export const instanceUuid = (number: number): string =>
  `00000000-0000-4000-9000-${String(number).padStart(12, '0')}`

export const holdOf = (volume: number, instance: number, more: Partial<VolumeHold> = {}): VolumeHold => ({
  uuid: volumeUuid(volume),
  instanceUuid: instanceUuid(instance),
  readonly: false,
  continues: false,
  ...more,
})

export const fails =
  (failure: VolumeError['failure']) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof VolumeError, String(error))
    assert.equal(error.failure, failure, error.message)
    return true
  }

const small = { uuid: volumeUuid(1), sizeMb: 8 }

/**
 * The tests that every implementation of `Volumes` must pass. `make` gives one without volumes, with room
 * for at least 64 MB.
 */
export function volumesConformance(make: () => Promise<VolumesUnderTest>): void {
  let scene: VolumesUnderTest
  let volumes: Volumes

  beforeEach(async () => {
    scene = await make()
    ;({ volumes } = scene)
  })

  describe('making', () => {
    it('again, at the same time or by the next agent, changes nothing', async () => {
      await Promise.all([volumes.make(small), volumes.make(small)])
      await volumes.make(small)
      await (await scene.again()).make(small)
      assert.equal((await volumes.room()).promisedMb, 8)
    })

    it('promises its size, until it is removed', async () => {
      const before = await volumes.room()
      assert.equal(before.promisedMb, 0)
      await Promise.all([volumes.make(small), volumes.make({ uuid: volumeUuid(2), sizeMb: 16 })])
      assert.equal((await volumes.room()).promisedMb, 24)
      await volumes.remove(small.uuid)
      assert.equal((await volumes.room()).promisedMb, 16)
    })

    it('more than there is room for is refused, and leaves nothing', async () => {
      const { totalMb } = await volumes.room()
      await assert.rejects(volumes.make({ uuid: small.uuid, sizeMb: totalMb + 1_024 }), fails('HostFull'))
      assert.equal((await volumes.room()).promisedMb, 0)
      await volumes.make(small)
    })

    it('many at once gives no two of them the same room', async () => {
      const { totalMb } = await volumes.room()
      const sizeMb = Math.floor(totalMb * 0.3)
      const wanted = Array.from({ length: 8 }, (_, index) => volumeUuid(index + 1))
      const outcomes = await Promise.allSettled(wanted.map(async (uuid) => volumes.make({ uuid, sizeMb })))
      const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
      assert.equal(refused.length, 5)
      for (const error of refused) fails('HostFull')(error)
    })

    it('is given up by its signal, and leaves nothing', async () => {
      const reason = new Error('enough')
      await assert.rejects(volumes.make(small, AbortSignal.abort(reason)), reason)
      assert.equal((await volumes.room()).promisedMb, 0)
    })
  })

  describe('holding', () => {
    beforeEach(async () => {
      await volumes.make(small)
    })

    it('gives the volume to one instance, again and again', async () => {
      const held = await volumes.hold(holdOf(1, 1))
      assert.deepEqual([held.uuid, held.readonly], [small.uuid, false])
      assert.deepEqual(await volumes.hold(holdOf(1, 1)), held)
      assert.equal((await volumes.hold(holdOf(1, 1, { readonly: true }))).readonly, true)
      assert.deepEqual(await volumes.holds(), [{ volumeUuid: small.uuid, instanceUuid: instanceUuid(1) }])
    })

    for (const readonly of [false, true])
      it(`keeps every other instance from it${readonly ? ', also where it only reads' : ''}`, async () => {
        await volumes.hold(holdOf(1, 1, { readonly }))
        await assert.rejects(volumes.hold(holdOf(1, 2, { readonly })), fails('VolumeInUse'))
        await assert.rejects(volumes.hold(holdOf(1, 2, { continues: true })), fails('VolumeInUse'))
      })

    it('gives the volume to one of two that ask at once', async () => {
      const outcomes = await Promise.allSettled([volumes.hold(holdOf(1, 1)), volumes.hold(holdOf(1, 2))])
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
      for (const one of outcomes) if (one.status === 'rejected') fails('VolumeInUse')(one.reason)
      assert.equal((await volumes.holds()).length, 1)
    })

    it('outlives the agent and ends by release', async () => {
      await volumes.hold(holdOf(1, 1))
      const next = await scene.again()
      assert.deepEqual(await next.holds(), await volumes.holds())
      await assert.rejects(next.hold(holdOf(1, 2)), fails('VolumeInUse'))
      await next.release(instanceUuid(1))
      await next.hold(holdOf(1, 2))
      assert.deepEqual(await (await scene.again()).holds(), [
        { volumeUuid: small.uuid, instanceUuid: instanceUuid(2) },
      ])
    })

    it('a release of an instance that holds nothing is no error, and frees no other volume', async () => {
      await volumes.hold(holdOf(1, 1))
      await volumes.release(instanceUuid(2))
      assert.equal((await volumes.holds()).length, 1)
      await volumes.release(instanceUuid(1))
      await volumes.release(instanceUuid(1))
      assert.deepEqual(await volumes.holds(), [])
    })

    it('a release frees all that the instance holds', async () => {
      await volumes.make({ uuid: volumeUuid(2), sizeMb: 8 })
      await volumes.hold(holdOf(1, 1))
      await volumes.hold(holdOf(2, 1))
      await volumes.release(instanceUuid(1))
      assert.deepEqual(await volumes.holds(), [])
    })

    it('keeps the volume from repair and removal', async () => {
      await volumes.hold(holdOf(1, 1))
      await assert.rejects(volumes.repair(small.uuid), fails('VolumeInUse'))
      await assert.rejects(volumes.remove(small.uuid), fails('VolumeInUse'))
      await volumes.release(instanceUuid(1))
      await volumes.repair(small.uuid)
      await volumes.remove(small.uuid)
    })

    it('is given up by its signal, and then nobody holds it', async () => {
      const reason = new Error('enough')
      await assert.rejects(volumes.hold(holdOf(1, 1), AbortSignal.abort(reason)), reason)
      assert.deepEqual(await volumes.holds(), [])
    })
  })

  describe('damage', () => {
    beforeEach(async () => {
      await volumes.make(small)
    })

    it('that a check can not mend fails the hold and leaves the volume free for its repair', async () => {
      await scene.damage(small.uuid)
      await assert.rejects(volumes.hold(holdOf(1, 1)), fails('VolumeUnusable'))
      assert.deepEqual(await volumes.holds(), [])
      await volumes.repair(small.uuid)
      await volumes.hold(holdOf(1, 1))
    })

    it('ends the hold of an instance that holds the volume again', async () => {
      await volumes.hold(holdOf(1, 1))
      await scene.damage(small.uuid)
      await assert.rejects(volumes.hold(holdOf(1, 1)), fails('VolumeUnusable'))
      assert.deepEqual(await (await scene.again()).holds(), [])
      await volumes.repair(small.uuid)
    })

    it('is not looked for if a guest continues with the volume', async () => {
      await volumes.hold(holdOf(1, 1))
      await scene.damage(small.uuid)
      await volumes.hold(holdOf(1, 1, { continues: true }))
      assert.equal((await volumes.holds()).length, 1)
    })

    it('of a file that is gone can not be repaired, only removed', async () => {
      await scene.lose(small.uuid)
      await assert.rejects(volumes.hold(holdOf(1, 1)), fails('VolumeUnusable'))
      await assert.rejects(volumes.hold(holdOf(1, 1, { continues: true })), fails('VolumeUnusable'))
      await assert.rejects(volumes.repair(small.uuid), fails('VolumeUnusable'))
      // The volume was made once, so its owner is told that the data is gone, instead of finding an empty
      // volume.
      await volumes.make(small)
      await assert.rejects(volumes.hold(holdOf(1, 1)), fails('VolumeUnusable'))
      await volumes.remove(small.uuid)
      await volumes.make(small)
      await volumes.hold(holdOf(1, 1))
    })

    it('a volume that was never made can neither be held nor repaired', async () => {
      await assert.rejects(volumes.hold(holdOf(2, 1)), fails('VolumeUnusable'))
      await assert.rejects(volumes.repair(volumeUuid(2)), fails('VolumeUnusable'))
      assert.deepEqual(await volumes.holds(), [])
    })
  })

  describe('removing', () => {
    it('is no error if it is done twice, at the same time, or for a volume that was never made', async () => {
      await volumes.make(small)
      await Promise.all([volumes.remove(small.uuid), volumes.remove(small.uuid)])
      await volumes.remove(small.uuid)
      await volumes.remove(volumeUuid(2))
      await assert.rejects(volumes.hold(holdOf(1, 1)), fails('VolumeUnusable'))
    })

    it('that was given up by its signal can be done again', async () => {
      const reason = new Error('enough')
      await volumes.make(small)
      await assert.rejects(volumes.remove(small.uuid, AbortSignal.abort(reason)), reason)
      await volumes.remove(small.uuid)
      assert.equal((await volumes.room()).promisedMb, 0)
    })
  })
}
