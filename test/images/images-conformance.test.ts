import assert from 'node:assert/strict'
import { FakeImages } from '../../src/host/images/fake-images.ts'
import type { Images } from '../../src/host/images/images.ts'
import { hostFixture } from './host-fixture.ts'

interface Subject {
  readonly images: Images
  readonly reference: string
}

/** What every implementation of the port must do. */
function imagesConformance(subject: () => Promise<Subject>): void {
  it('a prepared image has the digest that was asked for, and repeats give the same', async () => {
    const { images, reference } = await subject()
    const first = await images.prepare(reference)
    assert.equal(first.digest, reference.split('@')[1])
    assert.deepEqual(await images.prepare(reference), first)
  })

  it('who has given up already gets nothing', async () => {
    const { images, reference } = await subject()
    await assert.rejects(images.prepare(reference, AbortSignal.abort(new Error('too late'))), /too late/)
  })

  it('what is in use and what was just asked for is not collected', async () => {
    const { images, reference } = await subject()
    const { digest } = await images.prepare(reference)
    assert.deepEqual(await images.collect(new Set([digest])), [])
    assert.deepEqual(await images.collect(new Set()), [])
  })
}

describe('images: the fake', () => {
  const reference = `ann/app@sha256:${'0'.repeat(64)}`
  imagesConformance(() => Promise.resolve({ images: new FakeImages(), reference }))
})

describe('images: of a registry', () => {
  const host = hostFixture()
  imagesConformance(async () => ({
    images: await host.open(),
    reference: await host.push([{ name: 'file', content: 'x' }]),
  }))
})
