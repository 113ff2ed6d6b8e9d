import assert from 'node:assert/strict'
import { FakeImages } from '../../src/host/fakes/fake-images.ts'
import type { Images, PreparedImage } from '../../src/host/images/images.ts'
import { until } from '../support/until.ts'
import { hostFixture, pulledBy } from './host-fixture.ts'
import { HeldPulls } from './held-pulls.ts'
import { wanted } from './wanted-image.ts'

interface Subject {
  readonly images: Images
  readonly reference: string
}

/** What every implementation of the port must do. If `pulls` is given, it holds each pull of the subject. */
function imagesConformance(subject: (pulls?: HeldPulls) => Promise<Subject>): void {
  it('a prepared image has the digest that was asked for, and repeats give the same', async () => {
    const { images, reference } = await subject()
    const first = await images.prepare(wanted(reference))
    assert.equal(first.digest, reference.split('@')[1])
    assert.deepEqual(await images.prepare(wanted(reference)), first)
  })

  it('a caller that gave up before it asked gets nothing', async () => {
    const { images, reference } = await subject()
    await assert.rejects(
      images.prepare(wanted(reference), AbortSignal.abort(new Error('too late'))),
      /too late/,
    )
  })

  it('an image that was just asked for is not collected', async () => {
    const { images, reference } = await subject()
    await images.prepare(wanted(reference))
    assert.deepEqual(await images.collect(), [])
  })

  it('a caller that gives up during a pull is free at once; the pull goes on, and the next caller gets its image', async () => {
    const pulls = new HeldPulls()
    const { images, reference } = await subject(pulls)
    await pulls.askInVain(images, reference)
    const second = images.prepare(wanted(reference))
    pulls.letGo()
    assert.equal((await second).digest, reference.split('@')[1])
    assert.equal(pulls.count, 1)
  })

  it('a pull that fails after its callers have left harms no caller, and the next caller begins another pull', async () => {
    const pulls = new HeldPulls()
    const { images, reference } = await subject(pulls)
    await pulls.askInVain(images, reference)
    pulls.fail(new Error('the registry is gone'))
    // A new caller may still join the failed pull until that has cleaned up. So this asks until it succeeds.
    const prepared = async (): Promise<PreparedImage | undefined> =>
      await images.prepare(wanted(reference)).catch(() => undefined)
    const image = await until('the image is there', prepared, { limitMs: 20_000 })
    assert.equal(image.digest, reference.split('@')[1])
    assert.equal(pulls.count, 2)
  })

  it('closing ends every pull, and none begins afterwards', async () => {
    const pulls = new HeldPulls()
    const { images, reference } = await subject(pulls)
    const waiting = images.prepare(wanted(reference))
    waiting.catch(() => undefined)
    await pulls.begun()
    await images.close()
    await assert.rejects(waiting)
    await assert.rejects(images.prepare(wanted(reference)))
    assert.equal(pulls.count, 1)
  })
}

describe('images: the fake', () => {
  const reference = `ann/app@sha256:${'0'.repeat(64)}`
  imagesConformance(
    async (pulls) =>
      await Promise.resolve({
        images: new FakeImages(pulls === undefined ? {} : { pull: pulls.pull }),
        reference,
      }),
  )
})

describe('images: of a registry', () => {
  const host = hostFixture()
  imagesConformance(async (pulls) => ({
    images: await host.open(pulls === undefined ? {} : { client: pulledBy(host.registry.client, pulls) }),
    reference: await host.push([{ name: 'file', content: 'x' }]),
  }))
})
