import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { link, mkdir, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { LayerError, TarKind } from '../../src/host/images/tar-entry.ts'
import type { TarEntry } from '../../src/host/images/tar-entry.ts'
import { readTar } from '../../src/host/images/tar-reader.ts'
import { tarEnd, tarHeader, tarPadding } from '../../src/host/images/tar-writer.ts'
import { tarLayer } from '../support/oci-image.ts'

interface Read {
  readonly entry: TarEntry
  readonly content: string
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function readAll(bytes: Buffer, pieceBytes = 65_536): Promise<Read[]> {
  const read: Read[] = []
  for await (const member of readTar(inPieces(bytes, pieceBytes))) {
    const pieces: Buffer[] = []
    for await (const piece of member.content()) pieces.push(Buffer.from(piece))
    read.push({ entry: member.entry, content: Buffer.concat(pieces).toString('latin1') })
  }
  return read
}

const longName = `${'directory/'.repeat(12)}${'n'.repeat(150)}`

describe('reading archives', () => {
  for (const format of ['gnu', 'pax', 'ustar', 'oldgnu', 'v7']) {
    it(`what tar writes as ${format} is read with names, kinds, modes, links and content`, async () => {
      const directory = mkdtempSync(join(tmpdir(), 'roost-tar-'))
      try {
        await mkdir(join(directory, 'd'))
        await writeFile(join(directory, 'd/file'), 'content', { mode: 0o640 })
        await link(join(directory, 'd/file'), join(directory, 'd/hard'))
        await symlink('../elsewhere', join(directory, 'd/soft'))
        const owner = ['--owner=:1234', '--group=:2345', '--mtime=@1000000000', '--sort=name']
        const bytes = execFileSync('tar', ['-c', `--format=${format}`, ...owner, '-C', directory, 'd'])
        const [d, file, hard, soft, ...more] = await readAll(bytes)
        assert.deepEqual(more, [])
        assert.deepEqual([d?.entry.name, d?.entry.kind], ['d/', TarKind.Directory])
        assert.deepEqual([file?.entry.name, file?.content], ['d/file', 'content'])
        assert.equal(file?.entry.mode, 0o640)
        assert.equal(file?.entry.uid, 1234)
        assert.equal(file?.entry.gid, 2345)
        assert.equal(file?.entry.mtimeSeconds, 1_000_000_000)
        assert.deepEqual([hard?.entry.kind, hard?.entry.linkName], [TarKind.HardLink, 'd/file'])
        assert.deepEqual([soft?.entry.kind, soft?.entry.linkName], [TarKind.Symlink, '../elsewhere'])
      } finally {
        rmSync(directory, { recursive: true })
      }
    })
  }

  for (const format of ['gnu', 'pax']) {
    it(`long names and link targets are whole in the format ${format}`, async () => {
      const directory = mkdtempSync(join(tmpdir(), 'roost-tar-'))
      try {
        await mkdir(join(directory, longName), { recursive: true })
        await symlink(longName, join(directory, longName, 'soft'))
        const names = ['-C', directory, join(longName, 'soft')]
        const [soft] = await readAll(execFileSync('tar', ['-c', `--format=${format}`, ...names]))
        assert.equal(soft?.entry.name, `${longName}/soft`)
        assert.equal(soft?.entry.linkName, longName)
      } finally {
        rmSync(directory, { recursive: true })
      }
    })
  }

  it('extended attributes keep their bytes', async () => {
    const value = Buffer.from([1, 0, 255, 10, 61, 2])
    const [read] = await readAll(
      Buffer.concat([
        tarHeader(entryNamed('ping', { xattrs: new Map([['security.capability', value]]) })),
        tarEnd,
      ]),
    )
    assert.deepEqual(read?.entry.xattrs.get('security.capability'), value)
  })

  it('content that its reader leaves is skipped', async () => {
    const bytes = await tarLayer([
      { name: 'a', content: 'x'.repeat(10_000) },
      { name: 'b', content: 'y' },
    ])
    const names: string[] = []
    for await (const member of readTar(inPieces(bytes, 700))) names.push(member.entry.name)
    assert.deepEqual(names, ['a', 'b'])
  })

  it('what is written is read as the same, however the bytes arrive', async () => {
    const name = fc
      .uint8Array({ minLength: 1, maxLength: 300 })
      .map((bytes) => Buffer.from(bytes).toString('latin1').replaceAll(/[\0/]/g, '_'))
    const entry = fc.record({
      name,
      linkName: name,
      kind: fc.constantFrom(TarKind.File, TarKind.Symlink, TarKind.Directory, TarKind.HardLink, TarKind.Fifo),
      mode: fc.integer({ min: 0, max: 0o7777 }),
      uid: fc.integer({ min: 0, max: 0xffff_ffff }),
      gid: fc.integer({ min: 0, max: 0xffff_ffff }),
      mtimeSeconds: fc.integer({ min: 0, max: 0xffff_ffff }),
      content: fc.uint8Array({ maxLength: 1500 }),
      xattr: fc.option(fc.uint8Array({ maxLength: 200 })),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 8 }),
        fc.integer({ min: 1, max: 3000 }),
        async (items, piece) => {
          const written = items.map(({ content, xattr, ...fields }) => {
            const bytes = fields.kind === TarKind.File ? Buffer.from(content) : Buffer.alloc(0)
            const xattrs = new Map(xattr === null ? [] : [['user.x', Buffer.from(xattr)]])
            return { entry: { ...fields, xattrs, size: bytes.length }, bytes }
          })
          const archive = written.flatMap(({ entry, bytes }) => [
            tarHeader(entry),
            bytes,
            tarPadding(bytes.length),
          ])
          const read = await readAll(Buffer.concat([...archive, tarEnd]), piece)
          assert.deepEqual(
            read,
            written.map(({ entry, bytes }) => ({ entry, content: bytes.toString('latin1') })),
          )
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('refusing archives', () => {
  it('an archive that ends within a file is refused', async () => {
    const bytes = await tarLayer([{ name: 'a', content: 'x'.repeat(5000) }])
    await assert.rejects(readAll(bytes.subarray(0, 3000)), LayerError)
  })

  it('an entry with a wrong checksum is refused', async () => {
    const bytes = await tarLayer([{ name: 'a', content: 'x' }])
    bytes[0] = 0x62
    await assert.rejects(readAll(bytes), /wrong checksum/)
  })

  it('an extension header larger than the bound is refused before it is held in memory', async () => {
    const huge = tarHeader(entryNamed('pax', { size: 2 ** 32 }))
    huge.write('x', 156, 'latin1')
    await assert.rejects(readAll(withChecksum(huge)), /extension header of 4294967296 bytes/)
  })

  it('sparse files and unknown types are refused instead of guessed', async () => {
    for (const type of ['S', 'V', '9']) {
      const header = tarHeader(entryNamed('odd'))
      header.write(type, 156, 'latin1')
      await assert.rejects(readAll(withChecksum(header)), /unknown type/)
    }
  })
})

function entryNamed(name: string, fields: Partial<TarEntry> = {}): TarEntry {
  const plain = { kind: TarKind.File, mode: 0o644, uid: 0, gid: 0, mtimeSeconds: 0, size: 0, linkName: '' }
  return { ...plain, xattrs: new Map(), ...fields, name }
}

function withChecksum(block: Buffer): Buffer {
  block.fill(' ', 148, 156)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}
