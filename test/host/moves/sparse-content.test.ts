import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, open, readFile, rm, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SparseWriter, sparsePiecesOf } from '../../../src/host/moves/sparse-content.ts'

const mebibyte = 1024 * 1024

describe('the content of a volume on the wire', () => {
  let directory: string
  let file: FileHandle
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'roost-sparse-'))
    file = await open(join(directory, 'from'), 'w+')
  })
  afterEach(async () => {
    await file.close()
    await rm(directory, { recursive: true, force: true })
  })

  async function piecesOf(bytes: number): Promise<readonly Buffer[]> {
    const pieces: Buffer[] = []
    for await (const piece of sparsePiecesOf(file, bytes)) pieces.push(piece)
    return pieces
  }

  it('has a little of a long hole, so that nobody takes the connection for dead', async () => {
    const bytes = 200 * mebibyte
    await file.truncate(bytes)
    const places = (await piecesOf(bytes)).map((piece) => Number(piece.readBigUInt64BE()) / mebibyte)
    assert.deepEqual(places, [64, 129, 194])
  })

  it('of a file that is too short is an error', async () => {
    await file.truncate(mebibyte)
    await assert.rejects(piecesOf(mebibyte + 1), /the file ends at 1048576/)
  })

  it('is the same after it arrived in any portions, and takes no more room', async () => {
    const bytes = 70 * mebibyte + 4_321
    await file.truncate(bytes)
    for (const at of [0, 65_535, 3 * mebibyte - 1, 20 * mebibyte, bytes - 5_000])
      await file.write(randomBytes(5_000), 0, 5_000, at)
    const sent = Buffer.concat([...(await piecesOf(bytes))])
    assert.ok(sent.length < 2 * mebibyte, String(sent.length))
    const path = join(directory, 'to')
    const to = await open(path, 'w+')
    await to.truncate(bytes)
    const writer = new SparseWriter(to, bytes)
    for (let at = 0; at < sent.length; at += 7_001) {
      await writer.write(sent.subarray(at, at + 7_001))
      if (at === 0) assert.ok(!writer.isWhole)
    }
    assert.ok(writer.isWhole)
    await to.close()
    assert.ok((await readFile(path)).equals(await readFile(join(directory, 'from'))))
    assert.ok((await stat(path)).blocks * 512 < mebibyte)
  })
})
