import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { excessOf, heldFilesMax } from '../../../src/host/moves/held-copy.ts'
import type { HeldCopy, HeldFile } from '../../../src/host/moves/held-copy.ts'
import { fingerprint } from '../../../src/host/moves/root-disk.ts'

const mebibyte = 1024 * 1024
const memory = 'snapshot/memory'

describe('what a host may tell of an instance that it holds', () => {
  const spec = { memoryMb: 128 } as HeldCopy['spec']
  const withFiles = (...files: HeldFile[]) => excessOf({ files, spec } as unknown as HeldCopy)
  const segment = (index: number) => ({ name: `console/${String(index).padStart(16, '0')}.log`, bytes: 1 })

  it('has bounds', () => {
    assert.equal(withFiles(segment(1), { name: memory, bytes: 130 * mebibyte }), undefined)
    assert.match(withFiles({ name: '../record.json', bytes: 1 }) ?? '', /never copied/)
    assert.match(withFiles({ name: 'record.json', bytes: 1 }) ?? '', /never copied/)
    assert.match(withFiles({ name: memory, bytes: 1024 * mebibyte }) ?? '', /at most/)
    assert.match(withFiles({ name: 'usage.ring', bytes: 2 * mebibyte }) ?? '', /at most/)
    assert.match(withFiles({ name: memory, bytes: -1 }) ?? '', /at most/)
    assert.match(withFiles(segment(1), segment(1)) ?? '', /twice/)
    const many = Array.from({ length: heldFilesMax + 1 }, (_, index) => segment(index))
    assert.match(withFiles(...many) ?? '', /files/)
  })
})

describe('the fingerprint of a root disk', () => {
  it('differs with its size, its superblock and its tables', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'roost-disk-'))
    const path = join(directory, 'rootfs')
    const prints = new Set<string | undefined>()
    const disk = randomBytes(mebibyte)
    const of = async (content: Buffer) => {
      await writeFile(path, content)
      return await fingerprint({ kind: 'container', rootfsPath: path } as Parameters<typeof fingerprint>[0])
    }
    prints.add(await of(disk))
    for (const at of [10, mebibyte - 10]) {
      const other = Buffer.from(disk)
      other[at] = (other[at] ?? 0) ^ 1
      prints.add(await of(other))
    }
    prints.add(await of(disk.subarray(0, mebibyte - 1)))
    assert.equal(prints.size, 4)
    assert.ok(prints.has(await of(disk)))
    await rm(directory, { recursive: true })
  })
})
