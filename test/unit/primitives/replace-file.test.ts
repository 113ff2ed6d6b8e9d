import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { replaceFile } from '../../../src/primitives/replace-file.ts'

describe('a file that is replaced as a whole', () => {
  let directory: string
  let file: string
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'roost-replace-'))
    file = path.join(directory, 'file')
  })
  afterEach(async () => {
    await rm(directory, { recursive: true })
  })

  const modeOf = async () => (await stat(file)).mode & 0o777

  it('has the new content, and nothing is left beside it', async () => {
    for (const durable of [false, true]) {
      await replaceFile(file, 'a longer text', { durable })
      await replaceFile(file, Buffer.from('short'), { durable })
      assert.equal(await readFile(file, 'utf8'), 'short')
    }
    assert.deepEqual(await readdir(directory), ['file'])
  })

  it('has the permissions that are asked for, whatever is left of an earlier attempt', async () => {
    await writeFile(`${file}.new`, 'half of a much longer text that was never finished')
    await chmod(`${file}.new`, 0o666)
    await replaceFile(file, 'text', { mode: 0o600 })
    assert.equal(await readFile(file, 'utf8'), 'text')
    assert.equal(await modeOf(), 0o600)
  })

  it('may be replaced by several at the same time if it is shared', async () => {
    const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000))
    await Promise.all(texts.map(async (text) => await replaceFile(file, text, { isShared: true })))
    assert.ok(texts.includes(await readFile(file, 'utf8')))
    assert.deepEqual(await readdir(directory), ['file'])
  })

  it('stays as it was if it can not be replaced', async () => {
    await mkdir(file)
    await assert.rejects(replaceFile(file, 'text'), { code: 'EISDIR' })
    assert.deepEqual(await readdir(directory), ['file'])
    await assert.rejects(replaceFile(path.join(directory, 'absent', 'file'), 'text'), { code: 'ENOENT' })
  })
})
