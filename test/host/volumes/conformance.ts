import assert from 'node:assert/strict'
import { open, readFile } from 'node:fs/promises'
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

  describe('moving', () => {
    const instance = instanceUuid(1)
    async function arrive(uuid = small.uuid): Promise<void> {
      const file = await open(await volumes.beginArrival({ ...small, uuid }), 'r+')
      assert.equal((await file.stat()).size, small.sizeMb * 1024 * 1024)
      await file.write('content', 5_000)
      await file.close()
      await volumes.finishArrival(uuid, instance)
    }
    async function contentOf(uuid = small.uuid): Promise<string | undefined> {
      const path = await volumes.heldFile(uuid, instance)
      return path && (await readFile(path)).toString('latin1', 5_000, 5_007)
    }
    const holders = async () => (await volumes.holds()).map((hold) => hold.instanceUuid)

    it('is promised from the beginning, and used by nobody until it is taken', async () => {
      await volumes.beginArrival(small)
      assert.equal((await volumes.room()).promisedMb, 8)
      assert.deepEqual(await volumes.arrived(), [])
      await arrive()
      assert.equal((await volumes.room()).promisedMb, 8)
      assert.deepEqual([await volumes.arrived(), await holders()], [[small.uuid], []])
      assert.deepEqual(await volumes.uuids(), [])
      assert.equal(await contentOf(), undefined)
      await volumes.takeArrival(small.uuid, { isHeld: true })
      await volumes.takeArrival(small.uuid, { isHeld: true })
      assert.deepEqual([await volumes.arrived(), await holders()], [[], [instance]])
      assert.deepEqual(await volumes.uuids(), [small.uuid])
      assert.equal(await contentOf(), 'content')
      await assert.rejects(volumes.hold(holdOf(1, 2)), fails('VolumeInUse'))
    })

    it('is free when it was taken for nobody', async () => {
      await arrive()
      await volumes.takeArrival(small.uuid)
      assert.deepEqual(await holders(), [])
      await volumes.hold(holdOf(1, 2, { continues: true }))
    })

    it('is not taken for an instance when it is not here', async () => {
      await assert.rejects(volumes.takeArrival(small.uuid, { isHeld: true }), /is not here/)
      await volumes.takeArrival(small.uuid)
    })

    it('is taken by a hold and removed by a removal, which only its host is asked for', async () => {
      await arrive()
      await volumes.hold(holdOf(1, 1, { continues: true }))
      assert.equal(await contentOf(), 'content')
      await arrive(volumeUuid(2))
      await volumes.remove(volumeUuid(2))
      assert.deepEqual([await volumes.arrived(), (await volumes.room()).promisedMb], [[], 8])
    })

    it('outlives the agent if it arrived as a whole', async () => {
      await arrive()
      volumes = await scene.again()
      assert.deepEqual(await volumes.arrived(), [small.uuid])
      await volumes.takeArrival(small.uuid, { isHeld: true })
      volumes = await scene.again()
      assert.deepEqual([await holders(), await contentOf()], [[instance], 'content'])
    })

    it('leaves nothing when it is dropped, and touches none that was taken', async () => {
      await volumes.beginArrival(small)
      await volumes.dropArrival(small.uuid)
      assert.equal((await volumes.room()).promisedMb, 8)
      await volumes.cancelArrival(small.uuid)
      await arrive()
      await volumes.cancelArrival(small.uuid)
      assert.deepEqual(await volumes.arrived(), [small.uuid])
      await volumes.dropArrival(small.uuid)
      await volumes.remove(small.uuid)
      assert.deepEqual([await volumes.arrived(), (await volumes.room()).promisedMb], [[], 0])
      await arrive()
      await volumes.takeArrival(small.uuid, { isHeld: true })
      await volumes.dropArrival(small.uuid)
      assert.equal(await contentOf(), 'content')
    })

    it('is refused where the volume is, and where there is no room', async () => {
      await volumes.make(small)
      await assert.rejects(volumes.beginArrival(small), fails('VolumeInUse'))
      const { totalMb } = await volumes.room()
      const large = { uuid: volumeUuid(2), sizeMb: totalMb + 1_024 }
      await assert.rejects(volumes.beginArrival(large), fails('HostFull'))
      assert.equal((await volumes.room()).promisedMb, 8)
    })

    it('away ends its hold, and leaves nothing', async () => {
      await volumes.make(small)
      await volumes.hold(holdOf(1, 1))
      await assert.rejects(volumes.giveAway(small.uuid, instanceUuid(2)), fails('VolumeInUse'))
      await volumes.giveAway(small.uuid, instance)
      await volumes.giveAway(small.uuid, instance)
      assert.deepEqual([await holders(), await contentOf()], [[], undefined])
      await volumes.remove(small.uuid)
      await assert.rejects(volumes.hold(holdOf(1, 1)), fails('VolumeUnusable'))
      assert.equal((await volumes.room()).promisedMb, 0)
      await arrive()
      await volumes.takeArrival(small.uuid, { isHeld: true })
      assert.equal(await contentOf(), 'content')
    })
  })
}
