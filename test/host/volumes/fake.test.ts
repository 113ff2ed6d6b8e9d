import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FakeVolumes } from '../../../src/host/fakes/fake-volumes.ts'
import { fails, holdOf, instanceUuid, volumesConformance, volumeUuid } from './conformance.ts'

describe('Fake volumes', () => {
  const directories: string[] = []
  after(() => {
    for (const directory of directories) rmSync(directory, { recursive: true, force: true })
  })

  volumesConformance(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'roost-fake-volumes-'))
    directories.push(directory)
    const volumes = new FakeVolumes({ directory })
    return await Promise.resolve({
      volumes,
      again: async () => await Promise.resolve(volumes),
      damage: async (uuid) => {
        volumes.damaged.add(uuid)
        await Promise.resolve()
      },
      lose: async (uuid) => {
        volumes.gone.add(uuid)
        await Promise.resolve()
      },
    })
  })

  describe('faults', () => {
    const volume = { uuid: volumeUuid(1), sizeMb: 8 }

    it('the nth call of a kind fails and changes nothing', async () => {
      const volumes = new FakeVolumes({ fail: { make: 1, hold: 2 } })
      await assert.rejects(volumes.make(volume), /fails as asked/)
      await volumes.make(volume)
      await volumes.hold(holdOf(1, 1))
      await volumes.release(instanceUuid(1))
      await assert.rejects(volumes.hold(holdOf(1, 2)), /fails as asked/)
      assert.deepEqual(await volumes.holds(), [])
    })

    it('a call that hangs ends by its signal', async () => {
      const volumes = new FakeVolumes({ hang: ['make'] })
      const end = new AbortController()
      const made = volumes.make(volume, end.signal)
      end.abort(new Error('enough'))
      await assert.rejects(made, /enough/)
      assert.equal(volumes.made.size, 0)
    })

    it('the room is the one that is given', async () => {
      const volumes = new FakeVolumes({ totalMb: 10 })
      await volumes.make(volume)
      await assert.rejects(volumes.make({ uuid: volumeUuid(2), sizeMb: 3 }), fails('HostFull'))
    })

    it('a volume that can not be repaired stays so', async () => {
      const volumes = new FakeVolumes()
      await volumes.make(volume)
      volumes.hopeless.add(volume.uuid)
      await assert.rejects(volumes.hold(holdOf(1, 1)), fails('VolumeUnusable'))
      await assert.rejects(volumes.repair(volume.uuid), fails('VolumeUnusable'))
    })
  })
})
