import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ImageError } from '../../src/host/images/images.ts'
import type { ContainerImage, Images } from '../../src/host/images/images.ts'
import { DiskRoom } from '../../src/host/disk-room.ts'
import { openRegistryImages } from '../../src/host/images/registry-images.ts'
import type { RegistryImagesOptions } from '../../src/host/images/registry-images.ts'
import type { RegistryClient } from '../../src/registry/registry-client.ts'
import { gzipLayer, pushTestImage } from '../support/oci-image.ts'
import type { LayerMember, TestImage } from '../support/oci-image.ts'
import { startTestRegistry } from '../support/registry.ts'
import type { TestRegistry } from '../support/registry.ts'
import type { HeldPulls } from './held-pulls.ts'
import { wanted } from './wanted-image.ts'

export const repository = 'ann/app'
export const unpackProgram = join(import.meta.dirname, '../../src/bin/unpack.ts')

/** A registry for all tests of a file, and for each test an empty directory for the images of a host. */
export interface HostFixture {
  readonly registry: TestRegistry
  readonly directory: string
  open(options?: Partial<RegistryImagesOptions>): Promise<Images>
  /** Pushes an image of these layers and returns its reference by digest. */
  push(...layers: (readonly LayerMember[])[]): Promise<string>
  pushImage(image: TestImage): Promise<string>
  prepareContainer(reference: string, options?: Partial<RegistryImagesOptions>): Promise<ContainerImage>
}

export function hostFixture(): HostFixture {
  let registry: TestRegistry
  let directory: string
  const opened: Images[] = []
  before(async () => {
    registry = await startTestRegistry()
  })
  after(() => registry.close())
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'roost-images-'))
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map(async (images) => await images.close()))
    await rm(directory, { recursive: true })
  })

  const fixture: HostFixture = {
    get registry() {
      return registry
    },
    get directory() {
      return directory
    },
    async open(options) {
      const images = await openRegistryImages({
        directory,
        unpackProgram,
        pinned: () => [],
        disk: new DiskRoom(),
        client: registry.client,
        ...options,
      })
      opened.push(images)
      return images
    },
    async push(...layers) {
      return await fixture.pushImage({ layers: await Promise.all(layers.map(gzipLayer)) })
    },
    async pushImage(image) {
      return `${repository}@${await pushTestImage(registry.upload, { repository }, image)}`
    },
    async prepareContainer(reference, options) {
      const image = await (await fixture.open(options)).prepare(wanted(reference))
      assert.equal(image.kind, 'container')
      return image
    },
  }
  return fixture
}

/** A client of the same registry whose pulls last until the test ends them. */
export function pulledBy(client: RegistryClient, pulls: HeldPulls): RegistryClient {
  return {
    ...client,
    async image(repository, digest, signal) {
      await pulls.pull(signal ?? new AbortController().signal)
      return await client.image(repository, digest, signal)
    },
  }
}

/** Mode, owner and path of everything in the image, sorted by path. */
export function listing(image: ContainerImage): string[] {
  const lines = execFileSync('unsquashfs', ['-n', '-lln', image.rootfsPath], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const match = /^(\S{10}) (\d+\/\d+) .*? squashfs-root\/?(.*)$/.exec(line)
    return match ? [`${match[1]} ${match[2]} ${match[3]}`] : []
  })
}

export function content(image: ContainerImage, path: string): string {
  return execFileSync('unsquashfs', ['-cat', image.rootfsPath, path], { encoding: 'utf8' })
}

export function blobFile(registry: TestRegistry, digest: string): string {
  const hex = digest.slice('sha256:'.length)
  return join(registry.storageDirectory, 'docker/registry/v2/blobs/sha256', hex.slice(0, 2), hex, 'data')
}

export async function tamper(registry: TestRegistry, digest: string, bytes: Buffer): Promise<void> {
  await writeFile(blobFile(registry, digest), bytes)
}

export async function assertFails(
  promise: Promise<unknown>,
  failure: ImageError['failure'],
  message: RegExp,
): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof ImageError, String(error))
    assert.equal(error.failure, failure)
    assert.match(error.message, message)
    return true
  })
}

export async function leftovers(directory: string): Promise<string[]> {
  return [...(await readdir(join(directory, '.tmp'))), ...(await stored(directory))]
}

export async function stored(directory: string): Promise<string[]> {
  const names = await readdir(directory)
  return names
    .filter((name) => name.startsWith('sha256-'))
    .map((name) => name.replace('-', ':'))
    .toSorted()
}
