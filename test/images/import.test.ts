import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeOciLayout } from '../../samples/oci-layout.ts'
import { ImageArchiveError } from '../../src/registry/image-archive.ts'
import { importImage } from '../../src/registry/import.ts'
import { RegistryError } from '../../src/registry/registry-error.ts'
import { tarLayer } from '../support/oci-image.ts'
import { startTestRegistry, testUsers } from '../support/registry.ts'
import type { TestRegistry } from '../support/registry.ts'

describe('importing images from disk', () => {
  let registry: TestRegistry
  let directory: string
  before(async () => {
    registry = await startTestRegistry()
  })
  after(() => registry.close())
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'roost-import-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  function tokenOf(user: string): string {
    const password = testUsers.find(({ name }) => name === user)?.password ?? 'wrong'
    return Buffer.from(`${user}:${password}`).toString('base64')
  }

  const importAs = (user: string, path: string, name: string, imageInArchive?: string) =>
    importImage({
      path,
      name,
      registryUrl: registry.url,
      tokenUrl: registry.tokenUrl,
      token: tokenOf(user),
      ...(imageInArchive === undefined ? {} : { imageInArchive }),
    })

  async function layoutOf(...names: string[]): Promise<string> {
    const path = join(directory, 'layout')
    const content = Buffer.from('content')
    await mkdir(path)
    await writeOciLayout(
      path,
      names.map((name) => ({ name, files: [{ path: name, content }], config: { Cmd: [name] } })),
    )
    return path
  }

  async function commandOf(repository: string, digest: string): Promise<readonly string[]> {
    return (await registry.client.image(repository, digest)).config.command
  }

  it('an OCI layout becomes an image of the user, whole', async () => {
    const imported = await importAs('ann', await layoutOf('one'), 'ann/from-layout:v1')
    assert.equal(imported.reference, 'ann/from-layout:v1')
    assert.equal(await registry.client.digestOf('ann/from-layout', 'v1'), imported.digest)
    assert.deepEqual(await commandOf('ann/from-layout', imported.digest), ['one'])
    const { layers } = (await registry.client.image('ann/from-layout', imported.digest)).manifest
    for (const layer of layers) {
      let bytes = 0
      for await (const chunk of registry.client.blob('ann/from-layout', layer)) bytes += chunk.length
      assert.equal(bytes, layer.size)
    }
  })

  it('an OCI archive is the same in one file, and importing twice changes nothing', async () => {
    const layout = await layoutOf('two')
    const archive = join(directory, 'archive.tar')
    execFileSync('tar', ['-cf', archive, '-C', layout, '.'])
    const fromArchive = await importAs('ann', archive, 'ann/from-archive')
    assert.deepEqual(await importAs('ann', archive, 'ann/from-archive:latest'), fromArchive)
    assert.deepEqual((await importAs('ann', layout, 'ann/from-archive')).digest, fromArchive.digest)
  })

  it('what docker save writes is imported, with layers that are links to others', async () => {
    const layer = await tarLayer([{ name: 'file', content: 'x'.repeat(3000) }])
    const config = JSON.stringify({ os: 'linux', architecture: 'amd64', config: { Cmd: ['saved'] } })
    const manifest = [{ Config: 'c.json', RepoTags: ['app:latest'], Layers: ['a/layer.tar', 'b/layer.tar'] }]
    const archive = join(directory, 'docker.tar')
    await writeFile(
      archive,
      await tarLayer([
        { name: 'a/layer.tar', content: layer },
        { name: 'b/layer.tar', type: 'symlink', linkname: '../a/layer.tar' },
        { name: 'c.json', content: config },
        { name: 'manifest.json', content: JSON.stringify(manifest) },
      ]),
    )
    const { digest } = await importAs('ann', archive, 'ann/from-docker')
    const image = await registry.client.image('ann/from-docker', digest)
    assert.deepEqual(image.config.command, ['saved'])
    assert.deepEqual(
      image.manifest.layers.map(({ size }) => size),
      [layer.length, layer.length],
    )
  })

  it('a directory with several images is refused unless one of them is named', async () => {
    const layout = await layoutOf('one', 'two')
    await assert.rejects(importAs('ann', layout, 'ann/app'), /several images \(one, two\)/)
    await assert.rejects(importAs('ann', layout, 'ann/app', 'three'), /does not hold 'three'/)
    const { digest } = await importAs('ann', layout, 'ann/app', 'two')
    assert.deepEqual(await commandOf('ann/app', digest), ['two'])
  })

  it("another user's name and a wrong token are refused, and nothing is left", async () => {
    const layout = await layoutOf('one')
    const denied = (error: unknown) => error instanceof RegistryError && error.failure === 'denied'
    await assert.rejects(importAs('ann', layout, 'bob/app'), denied)
    await assert.rejects(importAs('ann', layout, 'official/app'), denied)
    await assert.rejects(importAs('mallory', layout, 'ann/refused'), denied)
    for (const repository of ['bob/app', 'official/app', 'ann/refused']) {
      assert.equal(await registry.client.digestOf(repository, 'latest'), undefined)
    }
  })

  it('a damaged layer is refused by the registry and no tag stands for the rest', async () => {
    const layout = await layoutOf('one')
    const index: { manifests: { digest: string }[] } = JSON.parse(
      await readFile(join(layout, 'index.json'), 'utf8'),
    )
    const blob = (digest: string) => join(layout, 'blobs', digest.replace(':', '/'))
    const manifest = await readFile(blob(index.manifests[0]?.digest ?? ''), 'utf8')
    const layers: { layers: { digest: string; size: number }[] } = JSON.parse(manifest)
    const [layer] = layers.layers
    assert.ok(layer)
    await writeFile(blob(layer.digest), Buffer.alloc(layer.size, 'x'))
    await assert.rejects(importAs('ann', layout, 'ann/damaged'), RegistryError)
    assert.equal(await registry.client.digestOf('ann/damaged', 'latest'), undefined)
  })

  it('what is no image is refused by name', async () => {
    await assert.rejects(importAs('ann', directory, 'ann/app'), ImageArchiveError)
    await assert.rejects(importAs('ann', directory, 'Not A Name'), /is not a name with a tag/)
    const compressed = join(directory, 'x.tar.gz')
    await writeFile(compressed, Buffer.from('1f8b0800', 'hex'))
    await assert.rejects(importAs('ann', compressed, 'ann/app'), /is compressed/)
  })
})
