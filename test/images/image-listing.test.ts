import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createImageListing } from '../../src/registry/image-listing.ts'
import type { ImageQuery } from '../../src/registry/image-listing.ts'
import { createImageResolver } from '../../src/registry/image-resolver.ts'
import { createRegistryClient } from '../../src/registry/registry-client.ts'
import { RegistryError } from '../../src/registry/registry-error.ts'
import { createRegistryHttp } from '../../src/registry/registry-http.ts'
import { gzipLayer, pushTestImage } from '../support/oci-image.ts'
import type { TestImage } from '../support/oci-image.ts'
import { startTestRegistry } from '../support/registry.ts'
import type { TestRegistry } from '../support/registry.ts'

describe('listing images', () => {
  let registry: TestRegistry
  before(async () => {
    registry = await startTestRegistry()
    await push('official/hello', 'latest', { config: { Cmd: ['/hello'] } })
    await push('official/utils/tool', 'v1')
    await push('ann/app', 'v1', { config: { Labels: { version: '1' } } })
    await push('ann/app', 'v2', { config: { Labels: { version: '2' } } })
    await push('ann/other', 'latest')
    await push('ann-b/app', 'latest')
    await push('bob/app', 'latest')
  })
  after(() => registry.close())

  async function push(
    repository: string,
    tag: string | undefined,
    image: Partial<TestImage> = {},
  ): Promise<string> {
    const layers = image.layers ?? [await gzipLayer([{ name: 'of', content: repository }])]
    return await pushTestImage(
      registry.upload,
      { repository, ...(tag === undefined ? {} : { tag }) },
      { ...image, layers },
    )
  }

  function blobFile(digest: string): string {
    const hex = digest.slice('sha256:'.length)
    return join(registry.storageDirectory, 'docker/registry/v2/blobs/sha256', hex.slice(0, 2), hex, 'data')
  }

  async function names(query: Partial<ImageQuery>): Promise<string[]> {
    const images = await createImageListing({ client: registry.client }).list({ userName: 'ann', ...query })
    return images.map(({ tags, digest }) => (tags.length > 0 ? tags.join('+') : digest)).toSorted()
  }

  it("a user sees their own images and the official ones, no other's", async () => {
    assert.deepEqual(await names({}), [
      'ann/app:v1',
      'ann/app:v2',
      'ann/other:latest',
      'hello:latest',
      'official/utils/tool:v1',
    ])
  })

  it('is in the order of names with digests, which does not change when a tag moves', async () => {
    const namespace = 'eve/moving'
    for (const version of ['1', '2', '3', '4']) {
      await push(namespace, `v${version}`, { config: { Labels: { version } } })
    }
    const listing = createImageListing({ client: registry.client })
    const digests = async () =>
      (await listing.list({ userName: 'eve', namespace })).map(({ digest }) => digest)
    const before = await digests()
    assert.deepEqual(before, before.toSorted())
    await push(namespace, 'a', { config: { Labels: { version: '4' } } })
    assert.deepEqual(await digests(), before)
    const all = await listing.list({ userName: 'eve' })
    assert.deepEqual(
      all.map(({ digest }) => digest),
      all.map(({ digest }) => digest).toSorted(),
    )
  })

  it('a namespace is that of a user, the official one, or that of one application', async () => {
    assert.deepEqual(await names({ namespace: 'ann' }), ['ann/app:v1', 'ann/app:v2', 'ann/other:latest'])
    assert.deepEqual(await names({ namespace: 'official' }), ['hello:latest', 'official/utils/tool:v1'])
    assert.deepEqual(await names({ namespace: 'ann/app' }), ['ann/app:v1', 'ann/app:v2'])
  })

  it("another user's namespace is as empty as one that does not exist", async () => {
    for (const namespace of ['bob', 'bob/app', 'ann-b', 'nobody', 'ann/nothing']) {
      assert.deepEqual(await names({ namespace }), [])
    }
    assert.deepEqual(await names({ lookups: [{ tag: 'bob/app:latest' }] }), [])
  })

  it('a tag is found in every way of writing it', async () => {
    for (const tag of [
      'hello',
      'hello:latest',
      'official/hello:latest',
      'index.unikraft.io/official/hello',
    ]) {
      assert.deepEqual(await names({ lookups: [{ tag }] }), ['hello:latest'])
    }
    assert.deepEqual(await names({ lookups: [{ tag: 'ann/app:v3' }] }), [])
    assert.deepEqual(await names({ lookups: [{ tag: 'not a tag' }] }), [])
  })

  it('an image must match all filters, and at least one of several lookups', async () => {
    const lookups = [{ tag: 'ann/app:v1' }, { tag: 'hello:latest' }]
    assert.deepEqual(await names({ lookups }), ['ann/app:v1', 'hello:latest'])
    assert.deepEqual(await names({ lookups, namespace: 'official' }), ['hello:latest'])
    const digest = await registry.client.digestOf('ann/app', 'v1')
    const both = (tag: string) => names({ lookups: [{ tag, digest: `ann/app@${digest}` }] })
    assert.deepEqual(await both('ann/app:v1'), ['ann/app:v1'])
    assert.deepEqual(await both('ann/app:v2'), [])
  })

  it('a digest is found with its name or alone, even if it has no tag', async () => {
    const digest = await push('ann/app', undefined, { config: { Labels: { version: 'untagged' } } })
    assert.deepEqual(await names({ lookups: [{ digest: `ann/app@${digest}` }] }), [`ann/app@${digest}`])
    assert.deepEqual(await names({ lookups: [{ digest }] }), [`ann/app@${digest}`])
    assert.deepEqual(await names({ lookups: [{ digest }], tagged: true }), [])
    assert.deepEqual(await names({ lookups: [{ digest: `ann/other@${digest}` }] }), [])
  })

  it('images in use are listed when they have lost their tag, unless only tagged ones are asked for', async () => {
    const digest = await push('ann/moved', 'latest', { config: { Labels: { version: 'old' } } })
    await push('ann/moved', 'latest', { config: { Labels: { version: 'new' } } })
    const listing = createImageListing({
      client: registry.client,
      inUse: () => Promise.resolve([`ann/moved@${digest}`, `ann/gone@${digest}`]),
    })
    const query = { userName: 'ann', namespace: 'ann/moved' }
    const all = await listing.list(query)
    assert.deepEqual(all.map(({ tags }) => tags.join('+')).toSorted(), ['', 'ann/moved:latest'])
    const tagged = await listing.list({ ...query, tagged: true })
    assert.deepEqual(
      tagged.map(({ labels }) => labels),
      [{ version: 'new' }],
    )
  })

  it('an image has what its configuration says, and one entry for all of its tags', async () => {
    const kernel = await gzipLayer([{ name: 'unikraft/bin/kernel', content: 'k' }])
    const initrd = await gzipLayer([{ name: 'unikraft/bin/initrd', content: 'i' }])
    const image = {
      layers: [kernel, initrd],
      layerAnnotations: [undefined, { 'org.unikraft.kernel.initrd': '/unikraft/bin/initrd' }],
      config: {
        Entrypoint: ['/app'],
        Cmd: ['--name', 'a b'],
        Labels: { 'roost.kernel_args': 'quiet', note: 'x' },
      },
    }
    const digest = await push('ann/kernel', 'b', image)
    await push('ann/kernel', 'a', image)
    const listing = createImageListing({ client: registry.client })
    assert.deepEqual(await listing.list({ userName: 'ann', namespace: 'ann/kernel' }), [
      {
        digest: `ann/kernel@${digest}`,
        tags: ['ann/kernel:a', 'ann/kernel:b'],
        hasInitrd: true,
        sizeBytes: kernel.length + initrd.length,
        args: '/app --name "a b"',
        hasEntrypoint: true,
        kernelArgs: 'quiet',
        labels: { 'roost.kernel_args': 'quiet', note: 'x' },
      },
    ])
  })

  it('a push is seen by the next listing, and a moved tag by the next resolution', async () => {
    const listing = createImageListing({ client: registry.client })
    const resolver = createImageResolver(registry.client)
    const query = { userName: 'ann', namespace: 'ann/fresh' }
    for (const version of ['1', '2', '3']) {
      const digest = await push('ann/fresh', 'latest', { config: { Labels: { version } } })
      const images = await listing.list(query)
      assert.deepEqual(
        images.map(({ digest, labels }) => [digest, labels]),
        [[`ann/fresh@${digest}`, { version }]],
      )
      const resolved = await resolver.resolve('ann', 'ann/fresh')
      assert.equal(resolved.kind === 'found' && resolved.reference, `ann/fresh@${digest}`)
    }
  })

  it('an image that could not run is left out, and so is one that is damaged on disk', async () => {
    await push('ann/arm', 'latest', { platform: { os: 'linux', architecture: 'arm64' } })
    const digest = await push('ann/damaged', 'latest', { config: { Labels: { damaged: 'yes' } } })
    const { config } = (await registry.client.image('ann/damaged', digest)).manifest
    await writeFile(blobFile(config.digest), '{}'.padEnd(config.size))
    assert.deepEqual(await names({ namespace: 'ann/arm' }), [])
    assert.deepEqual(await names({ namespace: 'ann/damaged' }), [])
  })

  it('an image whose manifest is damaged on disk is left out and reported once, and the rest is listed', async () => {
    const damaged = await push('official/broken', 'latest', { config: { Labels: { broken: 'yes' } } })
    const told: string[] = []
    const listing = createImageListing({
      client: registry.client,
      inUse: async () => [`official/broken@${damaged}`],
      onDamaged: (image) => told.push(image),
    })
    const listed = async (query: Partial<ImageQuery>) =>
      (await listing.list({ userName: 'bob', ...query })).flatMap(({ tags }) => tags)
    const whole = ['bob/app:latest', 'hello:latest', 'official/utils/tool:v1']
    assert.deepEqual(await listed({}), ['bob/app:latest', 'broken:latest', ...whole.slice(1)])
    for (const content of ['', 'not a manifest']) {
      await writeFile(blobFile(damaged), content)
      assert.deepEqual(await listed({}), whole, content)
      assert.deepEqual(await listed({ lookups: [{ digest: `broken@${damaged}` }] }), [])
    }
    assert.deepEqual([...new Set(told)], told)
    assert.ok(told.includes('official/broken:latest'), told.join(', '))
    // The registry serves this content. A listing that has not read the image before finds its digest wrong.
    await writeFile(blobFile(damaged), '{"schemaVersion":2}')
    assert.deepEqual(await names({ userName: 'bob' }), whole)
  })

  it('more tags and repositories than a page of the registry are all listed', async () => {
    const layer = await gzipLayer([{ name: 'same' }])
    const digest = await push('bob/many', 't0', { layers: [layer] })
    const image = await registry.client.image('bob/many', digest)
    assert.equal(image.manifest.layers.length, 1)
    await Promise.all(
      Array.from({ length: 120 }, (_, index) => push(`bob/n${index}`, `t${index}`, { layers: [layer] })),
    )
    await Promise.all(
      Array.from({ length: 119 }, (_, index) => push('bob/many', `t${index + 1}`, { layers: [layer] })),
    )
    const images = await createImageListing({ client: registry.client }).list({
      userName: 'bob',
      namespace: 'bob',
    })
    assert.equal(images.length, 122)
    assert.equal(images.find((found) => found.digest.startsWith('bob/many@'))?.tags.length, 120)
  }).timeout(60_000)

  it('a registry that does not answer is an error, not an empty list', async () => {
    const http = createRegistryHttp({ url: 'http://127.0.0.1:1', token: () => Promise.resolve('') })
    const client = createRegistryClient(http)
    const unavailable = (error: unknown) => error instanceof RegistryError && error.failure === 'unavailable'
    await assert.rejects(createImageListing({ client }).list({ userName: 'ann' }), unavailable)
    await assert.rejects(createImageResolver(client).resolve('ann', 'hello'), unavailable)
    await http.close()
  })
})

describe('resolving an image', () => {
  let registry: TestRegistry
  before(async () => {
    registry = await startTestRegistry()
  })
  after(() => registry.close())

  it('a tag becomes its present digest, in the form of the host and in that of the API', async () => {
    const labels = { 'roost.memory_mb': '64' }
    const digest = await pushTestImage(
      registry.upload,
      { repository: 'official/app', tag: 'latest' },
      { layers: [], config: { Labels: labels } },
    )
    const resolved = await createImageResolver(registry.client).resolve('ann', 'app')
    assert.deepEqual(resolved, {
      kind: 'found',
      reference: `official/app@${digest}`,
      publicReference: `app@${digest}`,
      facts: { sizeBytes: 0, hasInitrd: false, hasEntrypoint: false, labels },
    })
  })

  it("another user's image looks like an image that does not exist", async () => {
    const digest = await pushTestImage(
      registry.upload,
      { repository: 'bob/app', tag: 'latest' },
      { layers: [] },
    )
    const resolver = createImageResolver(registry.client)
    for (const text of [
      'bob/app',
      `bob/app@${digest}`,
      `ann/app@${digest}`,
      'ann/app',
      'nothing',
      'NOT:A:NAME',
    ]) {
      assert.deepEqual(await resolver.resolve('ann', text), { kind: 'unknown' })
    }
    assert.equal((await resolver.resolve('bob', `bob/app@${digest}`)).kind, 'found')
  })

  it('an image for another platform is unusable, with the reason', async () => {
    const platform = { os: 'windows', architecture: 'amd64' }
    await pushTestImage(registry.upload, { repository: 'ann/win', tag: 'latest' }, { layers: [], platform })
    const resolved = await createImageResolver(registry.client).resolve('ann', 'ann/win')
    assert.deepEqual(resolved, {
      kind: 'unusable',
      reason: "the image 'ann/win' has no variant for linux/amd64",
    })
  })
})
