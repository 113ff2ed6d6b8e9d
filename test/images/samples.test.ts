import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openRegistryImages } from '../../src/host/images/registry-images.ts'
import type { ContainerImage, Images } from '../../src/host/images/images.ts'
import { createImageResolver } from '../../src/registry/image-resolver.ts'
import { seedOfficialImages } from '../../src/registry/seed-official.ts'
import { startTestRegistry } from '../support/registry.ts'
import type { TestRegistry } from '../support/registry.ts'

const run = promisify(execFile)
const builder = join(import.meta.dirname, '../../samples/build.ts')

describe('the official images', () => {
  let registry: TestRegistry
  let layout: string
  let store: string
  let images: Images
  before(async () => {
    registry = await startTestRegistry()
    layout = await mkdtemp(join(tmpdir(), 'roost-samples-'))
    store = await mkdtemp(join(tmpdir(), 'roost-images-'))
    await run(process.execPath, [builder, layout])
    images = await openRegistryImages({ directory: store, client: registry.client })
  })
  after(async () => {
    await registry.close()
    await rm(layout, { recursive: true })
    await rm(store, { recursive: true })
  })

  async function prepared(name: string): Promise<ContainerImage> {
    const found = await createImageResolver(registry.client).resolve('anyone', name)
    assert.equal(found.kind, 'found')
    const image = await images.prepare(found.reference)
    assert.equal(image.kind, 'container')
    return image
  }

  it('are put into the registry once', async () => {
    const seed = () => seedOfficialImages({ http: registry.http, directory: layout })
    assert.deepEqual(await seed(), ['official/hello:latest', 'official/busybox:latest'])
    assert.deepEqual(await seed(), [])
  })

  it('are the same each time they are built', async () => {
    const again = await mkdtemp(join(tmpdir(), 'roost-samples-'))
    await run(process.execPath, [builder, again])
    const index = (directory: string) => readFile(join(directory, 'index.json'), 'utf8')
    assert.equal(await index(again), await index(layout))
    await rm(again, { recursive: true })
  })

  it('hello is one static program', async () => {
    const image = await prepared('hello')
    assert.deepEqual([...image.entrypoint, ...image.command], ['/hello'])
    const program = execFileSync('unsquashfs', ['-cat', image.rootfsPath, 'hello'])
    assert.equal(program.toString('hex', 0, 4), '7f454c46')
    assert.ok(!program.includes('/lib64/ld-linux'))
    assert.ok(program.includes('listening on %d'))
  })

  it('busybox has its applets, runs its arguments as the command, and sleeps for ever without any', async () => {
    const image = await prepared('busybox')
    assert.deepEqual(image.entrypoint, [])
    assert.deepEqual(image.command, ['/bin/sleep', 'infinity'])
    const listing = execFileSync('unsquashfs', ['-lls', image.rootfsPath], { encoding: 'utf8' })
    for (const applet of ['bin/sh', 'bin/sleep', 'usr/bin/wget', 'usr/bin/env', 'bin/sync']) {
      assert.match(listing, new RegExp(`squashfs-root/${applet} -> /bin/busybox`))
    }
    assert.match(listing, /^drwxrwxrwt.*squashfs-root\/tmp$/m)
  })
})
