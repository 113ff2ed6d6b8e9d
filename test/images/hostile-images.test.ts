import assert from 'node:assert/strict'
import { assertFails, hostFixture, leftovers } from './host-fixture.ts'
import { emptyFrames, refusedLayers } from './hostile-layers.ts'
import { bobUuid, wanted } from './wanted-image.ts'

describe('images made to keep a host busy', () => {
  const host = hostFixture()

  for (const { title, layers, message } of refusedLayers) {
    it(`${title}: refused`, async () => {
      const images = await host.open()
      await assertFails(
        images.prepare(wanted(await host.pushImage({ layers: layers() }))),
        'ImageUnusable',
        message,
      )
      assert.deepEqual(await leftovers(host.directory), [])
    })
  }

  it('a user who starts many of them does not make the image of another user wait', async () => {
    const images = await host.open()
    const hostile = await Promise.all(
      ['a', 'b', 'c', 'd'].map((seed) =>
        host.pushImage({ layers: [emptyFrames(1_000_000, seed), emptyFrames(1_000_000, `${seed}2`)] }),
      ),
    )
    const ended: string[] = []
    const refused = hostile.map(async (reference) => {
      await assertFails(images.prepare(wanted(reference)), 'ImageUnusable', /empty parts/)
      ended.push('hostile')
    })
    await images.prepare(wanted(await host.push([{ name: 'small' }]), bobUuid))
    ended.push('small')
    await Promise.all(refused)
    assert.ok(ended.indexOf('small') < 2, `ended in this order: ${ended.join(', ')}`)
  })
})
