import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, readFile, rm, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { KernelImage } from '../../src/host/images/images.ts'
import { digestOf } from '../../src/registry/verified-stream.ts'
import { gzipLayer, ociIndex, ociManifest, pushTestImage, tarLayer } from '../support/oci-image.ts'
import type { LayerMember } from '../support/oci-image.ts'
import { assertFails, content, hostFixture, listing, repository } from './host-fixture.ts'
import { wanted } from './wanted-image.ts'

/** Four bytes that a zstd decompressor passes over. */
const skippableFrame = Buffer.from('502a4d180400000061626364', 'hex')

describe('images of a host', () => {
  const host = hostFixture()

  describe('made of an ordinary image', () => {
    it('all layers become one squashfs with owners, modes, links and white-outs as the layers say', async () => {
      const image = await host.prepareContainer(
        await host.push(
          [
            { name: 'bin', type: 'symlink', linkname: 'usr/bin' },
            { name: 'usr/bin/tool', content: 'tool 1', mode: 0o4755, uid: 1000, gid: 2000 },
            { name: 'gone', content: 'x' },
            { name: 'opaque/old', content: 'x' },
            { name: 'pipe', type: 'fifo', mode: 0o600 },
            { name: 'dev/null', type: 'character-device', devmajor: 1, devminor: 3 },
          ],
          [
            { name: 'hard', type: 'link', linkname: 'usr/bin/tool' },
            { name: '.wh.gone' },
            { name: 'opaque/.wh..wh..opq' },
            { name: 'opaque/new', content: 'y' },
            { name: 'bin/late', content: 'late' },
          ],
        ),
      )
      assert.deepEqual(listing(image), [
        'drwxr-xr-x 0/0 ',
        'lrwxrwxrwx 0/0 bin -> usr/bin',
        'drwxr-xr-x 0/0 dev',
        '-rwsr-xr-x 1000/2000 hard',
        'drwxr-xr-x 0/0 opaque',
        '-rw-r--r-- 0/0 opaque/new',
        'prw------- 0/0 pipe',
        'drwxr-xr-x 0/0 usr',
        'drwxr-xr-x 0/0 usr/bin',
        '-rw-r--r-- 0/0 usr/bin/late',
        '-rwsr-xr-x 1000/2000 usr/bin/tool',
      ])
      assert.equal(content(image, 'hard'), 'tool 1')
      assert.equal(content(image, 'usr/bin/late'), 'late')
    })

    it('hard links stay one file', async () => {
      const big = 'x'.repeat(1_000_000)
      const linked = await host.prepareContainer(
        await host.push([
          { name: 'a', content: big },
          { name: 'b', type: 'link', linkname: 'a' },
        ]),
      )
      const inodes = execFileSync('unsquashfs', ['-s', linked.rootfsPath], { encoding: 'utf8' })
      assert.match(inodes, /Number of inodes 2\b/)
      assert.ok((await stat(linked.rootfsPath)).size < 1_500_000)
    })

    it('the settings of the image for its process are kept', async () => {
      const config = {
        Entrypoint: ['/run', '--fast'],
        Cmd: ['a b', ''],
        Env: ['A=1', 'B=x=y'],
        WorkingDir: '/srv',
        User: 'app:1000',
        Labels: { 'roost.memory_mb': '64' },
      }
      const { rootfsPath, digest, ...image } = await host.prepareContainer(
        await host.pushImage({ layers: [await gzipLayer([{ name: 'run' }])], config }),
      )
      assert.ok(rootfsPath.startsWith(host.directory))
      assert.match(digest, /^sha256:/)
      assert.deepEqual(image, {
        kind: 'container',
        entrypoint: ['/run', '--fast'],
        command: ['a b', ''],
        env: ['A=1', 'B=x=y'],
        workingDirectory: '/srv',
        user: 'app:1000',
        labels: { 'roost.memory_mb': '64' },
      })
    })

    it('layers may be plain, gzip or zstd, in one or several frames, whatever their media type says', async () => {
      const one = await tarLayer([{ name: 'one', content: '1' }])
      const two = await tarLayer([{ name: 'two', content: '2'.repeat(100_000) }])
      const three = await tarLayer([{ name: 'three', content: '3' }])
      const halves = [two.subarray(0, 50_000), two.subarray(50_000)]
      const image = await host.prepareContainer(
        await host.pushImage({
          layers: [
            one,
            Buffer.concat([...halves.map((half) => zstdCompressSync(half)), skippableFrame]),
            gzipSync(three),
          ],
        }),
      )
      assert.equal(content(image, 'one'), '1')
      assert.equal(content(image, 'two'), '2'.repeat(100_000))
      assert.equal(content(image, 'three'), '3')
    })

    it('of an index, the variant for linux/amd64 is taken', async () => {
      const arm = { os: 'linux', architecture: 'arm64' }
      const amd = { os: 'linux', architecture: 'amd64' }
      const layerFor = (name: string) => gzipLayer([{ name }])
      const variants = [
        {
          platform: arm,
          digest: await pushTestImage(
            host.registry.upload,
            { repository },
            { layers: [await layerFor('arm')], platform: arm },
          ),
        },
        {
          platform: amd,
          digest: await pushTestImage(
            host.registry.upload,
            { repository },
            { layers: [await layerFor('amd')], platform: amd },
          ),
        },
      ]
      const sizes = await Promise.all(
        variants.map(({ digest }) =>
          host.registry.client.image(repository, digest).then(
            () => 1,
            () => 0,
          ),
        ),
      )
      assert.deepEqual(sizes, [0, 1], 'the variant for another architecture does not run by itself')
      const manifests = variants.map(({ platform, digest }) => ({
        mediaType: ociManifest,
        digest,
        size: 1,
        platform,
      }))
      const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: ociIndex, manifests }))
      const digest = digestOf(bytes)
      await host.registry.upload.manifest(repository, digest, { mediaType: ociIndex, bytes })
      const image = await host.prepareContainer(`${repository}@${digest}`)
      assert.equal(image.digest, digest)
      assert.deepEqual(listing(image).slice(1), ['-rw-r--r-- 0/0 amd'])
    })

    it('the same layers give the same bytes, and anyone may read them', async () => {
      const reference = await host.push([
        { name: 'd/a', content: 'x' },
        { name: 'd/b', content: 'y' },
      ])
      const first = await host.prepareContainer(reference)
      const bytes = await readFile(first.rootfsPath)
      await rm(host.directory, { recursive: true })
      await mkdir(host.directory)
      // The second image is made in another second, because the time of making must not change the bytes.
      await delay(1_001 - (Date.now() % 1_000))
      const second = await host.prepareContainer(reference)
      assert.ok(bytes.equals(await readFile(second.rootfsPath)))
      assert.equal((await stat(second.rootfsPath)).mode & 0o777, 0o644)
    })

    for (const [title, owner] of [
      ['nobody else has', { uid: 1_234, gid: 5_678 }],
      ['others have as well', { uid: 0, gid: 0 }],
    ] as const) {
      it(`the root has the owner that its layer gives, an owner that ${title}`, async () => {
        const image = await host.prepareContainer(
          await host.push([
            { name: './', type: 'directory', ...owner },
            { name: 'a', uid: 0, gid: 0 },
          ]),
        )
        assert.deepEqual(listing(image), [`drwxr-xr-x ${owner.uid}/${owner.gid} `, '-rw-r--r-- 0/0 a'])
      })
    }

    for (const files of [1, 200, 400, 800]) {
      it(`the root has the time that its layer gives, beside ${files} files`, async () => {
        const members = Array.from({ length: files }, (_, index): LayerMember => ({ name: `f${index}` }))
        const root: LayerMember = { name: './', type: 'directory', mtime: new Date('2001-09-09T01:46:40Z') }
        const image = await host.prepareContainer(await host.push([root, ...members]))
        const lines = execFileSync('unsquashfs', ['-UTC', '-lln', image.rootfsPath], { encoding: 'utf8' })
        assert.match(lines, /2001-09-09 01:46 squashfs-root\n/)
        assert.equal(lines.trim().split('\n').length, files + 1)
      })
    }
  })

  describe('made of an image with its own kernel', () => {
    const elf = Buffer.concat([
      Buffer.from('7f454c46020101000000000000000000', 'hex'),
      Buffer.from([2, 0, 62, 0]),
      Buffer.alloc(100),
    ])

    it('kernel and initrd become files, and a label gives the arguments that come before those of the platform', async () => {
      const image = await (
        await host.open()
      ).prepare(
        wanted(
          await host.pushImage({
            layers: [
              await tarLayer([{ name: 'unikraft/bin/kernel', content: elf }]),
              await tarLayer([{ name: '/unikraft/bin/initrd', content: 'cpio' }]),
            ],
            platform: { os: 'kraftcloud', architecture: 'x86_64' },
            config: { Cmd: ['/app', '-v'], Labels: { 'roost.kernel_args': 'quiet "a b"' } },
          }),
        ),
      )
      assert.equal(image.kind, 'kernel')
      const kernel: KernelImage = image
      assert.deepEqual(kernel.kernelArgs, ['quiet', 'a b'])
      assert.deepEqual(kernel.command, ['/app', '-v'])
      assert.ok((await readFile(kernel.kernelPath)).equals(elf))
      assert.equal(await readFile(kernel.initrdPath ?? '', 'utf8'), 'cpio')
    })

    it('a kernel without an initrd is enough', async () => {
      const image = await (
        await host.open()
      ).prepare(wanted(await host.push([{ name: 'unikraft/bin/kernel', content: elf }])))
      assert.equal(image.kind, 'kernel')
      assert.equal(image.initrdPath, undefined)
    })

    const unusable: [title: string, members: readonly LayerMember[], message: RegExp][] = [
      [
        'of an unknown format',
        [{ name: 'unikraft/bin/kernel', content: 'no kernel' }],
        /neither an x86-64 ELF/,
      ],
      [
        'that is a link',
        [{ name: 'unikraft/bin/kernel', type: 'symlink', linkname: '/etc/passwd' }],
        /not a regular/,
      ],
      [
        'over the size limit',
        [{ name: 'unikraft/bin/kernel', content: Buffer.concat([elf, Buffer.alloc(2000)]) }],
        /at most 1000/,
      ],
    ]
    for (const [title, members, message] of unusable) {
      it(`a kernel ${title} is refused`, async () => {
        const images = await host.open({ limits: { maxKernelBytes: 1000 } })
        await assertFails(images.prepare(wanted(await host.push(members))), 'ImageUnusable', message)
      })
    }
  })
})
