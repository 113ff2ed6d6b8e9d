import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openImageStore } from '../../../src/host/images/image-store.ts'
import { readGuestAssets } from '../../../src/host/vmm/guest-assets.ts'

const damaged = ['', '{"kind":"contai', 'null', '[]', '{"kind":"container"}'] as const

describe('a damaged record on a host', () => {
  let directory: string
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'roost-damaged-'))))
  afterEach(async () => await rm(directory, { recursive: true, force: true }))

  it('of an image is named, with what to do', async () => {
    const digest = `sha256:${'a'.repeat(64)}`
    const store = await openImageStore(directory, () => 0)
    const rootfsPath = store.fileOf(digest, 'rootfs.squashfs')
    const image = { kind: 'container', digest, rootfsPath } as Parameters<typeof store.publish>[1]
    await store.publish(await store.begin(digest), image, 'ann')
    assert.deepEqual(await store.find(digest), image)
    const file = store.fileOf(digest, 'image.json')
    for (const text of [...damaged, '{"kind":"kernel","rootfsPath":"/r"}']) {
      await writeFile(file, text)
      await assert.rejects(store.find(digest), {
        name: 'DamagedImage',
        message: `${file} is damaged: delete the directory that it is in`,
      })
    }
  })

  it('of the guest is named, with what to do', async () => {
    for (const text of [...damaged, '{"kernelRelease":"6"}', '{"files":{}}']) {
      await writeFile(join(directory, 'manifest.json'), text)
      await assert.rejects(readGuestAssets(directory), {
        message: `${directory}/manifest.json is damaged: build the guest again`,
      })
    }
  })

  it('of the guest that names no kernel, or not its hash, says so', async () => {
    for (const files of ['{}', '{"vmlinux":1}']) {
      await writeFile(join(directory, 'manifest.json'), `{"kernelRelease":"6","files":${files}}`)
      await assert.rejects(readGuestAssets(directory), {
        message: `${directory}/manifest.json names no 'vmlinux': build the guest again`,
      })
    }
  })
})
