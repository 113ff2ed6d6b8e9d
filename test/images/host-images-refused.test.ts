import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { createRegistryClient } from '../../src/registry/registry-client.ts'
import { digestOf } from '../../src/registry/verified-stream.ts'
import { gzipLayer, tarLayer } from '../support/oci-image.ts'
import type { LayerMember } from '../support/oci-image.ts'
import { assertFails, blobFile, content, hostFixture, leftovers, repository, tamper } from './host-fixture.ts'
import { wanted } from './wanted-image.ts'

describe('images that a host refuses', () => {
  const host = hostFixture()

  describe('refused', () => {
    it('a layer that was changed in the registry makes the image unavailable and leaves nothing', async () => {
      const layer = await gzipLayer([{ name: 'secret', content: 'a' }])
      const reference = await host.pushImage({ layers: [layer] })
      const changed = Buffer.from(layer)
      changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1)
      await tamper(host.registry, digestOf(layer), changed)
      await assertFails(
        (await host.open()).prepare(wanted(reference)),
        'ImageUnavailable',
        /does not have that digest/,
      )
      assert.deepEqual(await leftovers(host.directory), [])
    })

    it('a manifest that was changed in the registry makes the image unavailable', async () => {
      const reference = await host.push([{ name: 'other', content: 'c' }])
      const digest = reference.split('@')[1] ?? ''
      const bytes = await readFile(blobFile(host.registry, digest), 'utf8')
      await tamper(host.registry, digest, Buffer.from(bytes.replace('"size":', '"Size":')))
      await assertFails((await host.open()).prepare(wanted(reference)), 'ImageUnavailable', /.*/)
    })

    it('an image that does not exist is unavailable', async () => {
      const missing = `${repository}@sha256:${'0'.repeat(64)}`
      await assertFails(
        (await host.open()).prepare(wanted(missing)),
        'ImageUnavailable',
        /is not in the registry/,
      )
    })

    it('a registry that does not answer makes images unavailable', async () => {
      const images = await host.open({
        client: createRegistryClient({
          send: () => host.registry.http.send({ method: 'GET', path: 'http://127.0.0.1:1/', repository }),
          close: () => Promise.resolve(),
        }),
      })
      await assertFails(
        images.prepare(wanted(`${repository}@sha256:${'0'.repeat(64)}`)),
        'ImageUnavailable',
        /does not answer/,
      )
    })

    it('a reference without a digest is refused, because a tag may change', async () => {
      await assertFails(
        (await host.open()).prepare(wanted('ann/app:latest')),
        'ImageUnusable',
        /by its digest/,
      )
    })

    const hostile: [title: string, members: readonly LayerMember[], message: RegExp][] = [
      [
        'a path that climbs out',
        [{ name: '../../../../tmp/roost-escaped', content: 'x' }],
        /leaves the image/,
      ],
      [
        'a hard link to a file of the host',
        [{ name: 'a', type: 'link', linkname: '/etc/passwd' }],
        /not a file of the/,
      ],
    ]
    for (const [title, members, message] of hostile) {
      it(`${title} makes the image unusable`, async () => {
        await assertFails(
          (await host.open()).prepare(wanted(await host.push(members))),
          'ImageUnusable',
          message,
        )
        assert.ok(!existsSync('/tmp/roost-escaped'))
        assert.deepEqual(await leftovers(host.directory), [])
      })
    }

    it('a file below a link that leads out of the image stays within the image', async () => {
      const image = await host.prepareContainer(
        await host.push(
          [{ name: 'out', type: 'symlink', linkname: '../../../../../../../../tmp' }],
          [{ name: 'out/roost-escaped', content: 'inside' }],
        ),
      )
      assert.ok(!existsSync('/tmp/roost-escaped'))
      assert.equal(content(image, 'tmp/roost-escaped'), 'inside')
    })

    it('a layer that unpacks to far more than its size is refused early', async () => {
      const bomb = gzipSync(await tarLayer([{ name: 'zeros', content: Buffer.alloc(20_000_000) }]))
      const images = await host.open({ limits: { ratioFreeBytes: 1_000_000, maxCompressionRatio: 100 } })
      await assertFails(
        images.prepare(wanted(await host.pushImage({ layers: [bomb] }))),
        'ImageUnusable',
        /100 times its size/,
      )
    })

    it('layers that together unpack to more than the limit are refused, though each alone is within it', async () => {
      const layers = await Promise.all(
        ['a', 'b'].map((name) => gzipLayer([{ name, content: Buffer.alloc(600_000) }])),
      )
      const images = await host.open({ limits: { maxUnpackedBytes: 1_000_000 } })
      await assertFails(
        images.prepare(wanted(await host.pushImage({ layers }))),
        'ImageUnusable',
        /unpacks to more than 1000000/,
      )
    })

    it('an image with more to pull than the limit is refused before the pull', async () => {
      const images = await host.open({ limits: { maxPulledBytes: 10 } })
      await assertFails(
        images.prepare(wanted(await host.push([{ name: 'x' }]))),
        'ImageUnusable',
        /at most 10 are allowed/,
      )
    })

    it('a layer that is no archive is refused', async () => {
      const images = await host.open()
      await assertFails(
        images.prepare(wanted(await host.pushImage({ layers: [Buffer.alloc(1000, 'x')] }))),
        'ImageUnusable',
        /archive/,
      )
      const broken = (await gzipLayer([{ name: 'x', content: randomBytes(5000) }])).subarray(0, 3000)
      await assertFails(
        images.prepare(wanted(await host.pushImage({ layers: [broken] }))),
        'ImageUnusable',
        /decompressed/,
      )
    })

    it('an environment over the limit and one with a zero byte are refused', async () => {
      const images = await host.open({ limits: { maxProcessBytes: 100 } })
      const env = (value: string) => host.pushImage({ layers: [], config: { Env: [`A=${value}`] } })
      await assertFails(
        images.prepare(wanted(await env('x'.repeat(200)))),
        'ImageUnusable',
        /at most 100 are allowed/,
      )
      await assertFails(images.prepare(wanted(await env('\0'))), 'ImageUnusable', /zero byte/)
    })
  })
})
