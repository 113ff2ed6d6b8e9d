import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { DiskRoom } from '../../src/host/disk-room.ts'
import type { ImageRequest, ImageUse } from '../../src/host/images/images.ts'
import type { ImageLimits } from '../../src/host/images/image-limits.ts'
import { gzipLayer, pushTestImage } from '../support/oci-image.ts'
import { assertFails, blobFile, hostFixture, leftovers, stored } from './host-fixture.ts'
import { annUuid, bobUuid, wanted } from './wanted-image.ts'

/**
 * The content of each test image. The image takes about 0.4 MB, and while it is made 0.9 MB with its layer.
 */
const contentBytes = 400_000

describe('the room for images on a host', () => {
  const host = hostFixture()
  let nowMs: number
  let pinned: ImageUse[]
  beforeEach(() => {
    nowMs = Date.now()
    pinned = []
  })

  async function image(owner = annUuid): Promise<ImageRequest> {
    return wanted(await host.push([{ name: 'data', content: randomBytes(contentBytes) }]), owner)
  }

  async function officialImage(): Promise<ImageRequest> {
    const repository = 'official/app'
    const layers = [await gzipLayer([{ name: 'data', content: randomBytes(contentBytes) }])]
    return wanted(`${repository}@${await pushTestImage(host.registry.upload, { repository }, { layers })}`)
  }

  /**
   * Opens a store. `prepare` moves the clock by a minute before each image, so that later ones are used
   * later.
   */
  async function open({
    quotaBytes = 16 * 1024 ** 3,
    disk = new DiskRoom(),
    ...limits
  }: Partial<ImageLimits> & { quotaBytes?: number; disk?: DiskRoom }) {
    const opened = await host.open({ limits, disk, nowMs: () => nowMs, pinned: () => pinned })
    const images = {
      prepare: async (request: ImageRequest, signal?: AbortSignal) =>
        await opened.prepare({ ...request, quotaBytes }, signal),
      usedBytes: async () => await opened.usedBytes(),
      close: async () => await opened.close(),
    }
    return {
      images,
      async prepare(...requests: readonly ImageRequest[]): Promise<void> {
        for (const request of requests) {
          nowMs += 60_000
          await images.prepare(request)
        }
      },
    }
  }

  function pin(...requests: readonly ImageRequest[]): void {
    for (const { reference, userUuid } of requests) pinned.push({ digest: digestIn(reference), userUuid })
  }

  async function assertStored(...requests: readonly ImageRequest[]): Promise<void> {
    assert.deepEqual(
      await stored(host.directory),
      requests.map(({ reference }) => digestIn(reference)).toSorted(),
    )
  }

  it('of one user is bounded: the image that this user used longest ago goes, and none of another user', async () => {
    const { prepare } = await open({ quotaBytes: 1_800_000 })
    const bobs = await image(bobUuid)
    const [first, second, third, fourth] = await Promise.all([image(), image(), image(), image()])
    await prepare(bobs, first, second, third, first, fourth)
    await assertStored(bobs, first, third, fourth)
  })

  it('of one user that is all in use leads to a refusal for that user and for no other', async () => {
    const { images, prepare } = await open({ quotaBytes: 1_800_000 })
    const [first, second, third, fourth] = await Promise.all([image(), image(), image(), image()])
    await prepare(first, second, third)
    pin(first, second, third)
    await assertFails(
      images.prepare(fourth),
      'QuotaExceeded',
      /'image_mb' exceeded: .* take 2 MiB of this host, and this one needs 1 MiB more, of 2 MiB .* stop instances of other images/,
    )
    await prepare({ ...fourth, userUuid: bobUuid })
    await assertStored(first, second, third, fourth)
    pinned.shift()
    await prepare(await image())
  })

  it('can never hold an image that is larger than all of it, so that image is refused for good', async () => {
    const { images } = await open({ quotaBytes: 500_000 })
    await assertFails(
      images.prepare(await image()),
      'QuotaExceeded',
      /'image_mb' exceeded: the image takes 1 MiB of a host while .* may take 1 MiB/,
    )
    assert.deepEqual(await leftovers(host.directory), [])
  })

  it('is reserved to the byte while an image is made, and given back if the image is refused or given up', async () => {
    const { images, prepare } = await open({ quotaBytes: 1_350_000, maxStoreBytes: 1_350_000 })
    const broken = randomBytes(contentBytes)
    for (let time = 0; time < 3; time++) {
      await assertFails(
        images.prepare(wanted(await host.pushImage({ layers: [broken] }))),
        'ImageUnusable',
        /archive/,
      )
      const gone = new AbortController()
      const prepared = images.prepare(await image(), gone.signal)
      gone.abort(new Error('given up'))
      await assert.rejects(prepared, /given up/)
    }
    const [first, second] = await Promise.all([image(), image()])
    pin(first, second)
    await prepare(first, second)
    await assertStored(first, second)
  })

  it('of the whole store is gained by deleting unused images, first those of the user who holds most', async () => {
    const { prepare } = await open({ maxStoreBytes: 2_100_000 })
    const bobs = await image(bobUuid)
    const [first, second, third] = await Promise.all([image(), image(), image()])
    await prepare(bobs, first, second, third)
    pin(first)
    await prepare(await image('00000000-0000-4000-8000-00000000000c'))
    const left = await stored(host.directory)
    assert.ok(left.includes(digestIn(bobs.reference)), 'bob, who holds less, keeps his, though it is older')
    assert.ok(left.includes(digestIn(first.reference)), 'what is in use stays')
    assert.ok(!left.includes(digestIn(second.reference)))
  })

  it('of the whole store that is all in use leads to a refusal for every user', async () => {
    const { images, prepare } = await open({ maxStoreBytes: 1_000_000 })
    const bobs = await image(bobUuid)
    await prepare(bobs)
    pin(bobs)
    await assertFails(images.prepare(await image()), 'HostFull', /images that are in use take 1 MiB/)
  })

  it('is charged to nobody for official images, which go last', async () => {
    const { prepare } = await open({ quotaBytes: 900_000, maxStoreBytes: 2_000_000 })
    const official = [await officialImage(), await officialImage()]
    await prepare(...official)
    const [first, second] = await Promise.all([image(), image(bobUuid)])
    await prepare(first, second)
    await assertStored(...official, second)
  })

  it('is charged to each user who has the image, which is deleted when none of them has it any more', async () => {
    const { prepare } = await open({ quotaBytes: 900_000 })
    const shared = await image()
    await prepare(shared, { ...shared, userUuid: bobUuid })
    const anns = await image()
    await prepare(anns)
    await assertStored(shared, anns)
    const bobs = await image(bobUuid)
    await prepare(bobs)
    await assertStored(anns, bobs)
  })

  it('is gained again for an image whose instance starts again, as long as the registry has the image', async () => {
    const { images, prepare } = await open({ quotaBytes: 900_000 })
    const [stopped, other] = await Promise.all([image(), image()])
    await prepare(stopped, other)
    await assertStored(other)
    await prepare(stopped)
    await assertStored(stopped)
    await rm(blobFile(host.registry, digestIn(other.reference)))
    await assertFails(images.prepare(other), 'ImageUnavailable', /is not in the registry|can not be/)
  })

  it('is reported for each user, in bytes', async () => {
    const { images, prepare } = await open({})
    const [shared, anns] = await Promise.all([image(), image()])
    await prepare(await officialImage(), shared, { ...shared, userUuid: bobUuid }, anns)
    const used = await images.usedBytes()
    const [ann = 0, bob = 0] = [used.get(annUuid), used.get(bobUuid)]
    assert.deepEqual([...used.keys()].toSorted(), [annUuid, bobUuid])
    assert.ok(bob >= contentBytes && bob < 1.2 * contentBytes, `${bob}`)
    assert.ok(ann >= 2 * contentBytes && ann < 2.4 * contentBytes, `${ann}`)
  })

  it('is on a disk that others share: bytes that others were promised are not free for an image', async () => {
    const disk = new DiskRoom()
    const { images, prepare } = await open({ disk })
    const [kept, unused] = [await image(bobUuid), await image()]
    await prepare(kept, unused)
    pin(kept)
    let promisedBytes = 2 ** 50
    disk.add({ directory: host.directory, unwrittenBytes: async () => await Promise.resolve(promisedBytes) })
    const next = await image()
    await assertFails(
      images.prepare(next),
      'HostFull',
      /the host's disk has no room: \d+ MB are needed and \d+ MB are left/,
    )
    await assertStored(kept)
    promisedBytes = 0
    await prepare(next)
  })

  it('is promised from the disk while an image is made, and no longer', async () => {
    const disk = new DiskRoom()
    const { prepare } = await open({ disk })
    const promisedBytes = async (): Promise<number> => (await disk.figures(host.directory)).promisedBytes
    const seen: number[] = []
    const watch = setInterval(() => void promisedBytes().then((bytes) => seen.push(bytes)), 1)
    await prepare(await image())
    clearInterval(watch)
    assert.ok(Math.max(...seen) >= contentBytes, `${Math.max(...seen)}`)
    assert.equal(await promisedBytes(), 0)
  })

  it('is read from the disk, where the record of each user’s images outlives the agent', async () => {
    const [first, second] = await Promise.all([image(), image()])
    const { images, prepare } = await open({ quotaBytes: 1_350_000 })
    await prepare(first, second)
    await images.close()
    const next = await open({ quotaBytes: 1_350_000 })
    await next.prepare(await image())
    assert.ok(!(await stored(host.directory)).includes(digestIn(first.reference)))
    assert.ok((await stored(host.directory)).includes(digestIn(second.reference)))
  })
})

function digestIn(reference: string): string {
  return reference.slice(reference.indexOf('@') + 1)
}
