import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { keepCopies } from '../../src/launch/given-files.ts'
import { until } from '../support/until.ts'

const me = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }

describe('copies of the files that an operator gives to a part', () => {
  let directory: string
  let stopping: AbortController
  let file: { readonly from: string; readonly to: string }

  beforeEach(() => {
    stopping = new AbortController()
    directory = mkdtempSync(path.join(tmpdir(), 'roost-given-'))
    file = { from: path.join(directory, 'metro.key'), to: path.join(directory, 'given', 'metro.key') }
  })

  afterEach(() => {
    stopping.abort()
    rmSync(directory, { recursive: true, force: true })
  })

  const often = () => ({ everyMs: 5, signal: stopping.signal })
  const copied = () => readFileSync(file.to, 'utf8')

  it('are there before the part starts, for nobody else to read', async () => {
    writeFileSync(file.from, 'key', { mode: 0o644 })
    await keepCopies([file], me, assert.fail, often())
    assert.equal(copied(), 'key')
    assert.equal(statSync(file.to).mode & 0o777, 0o600)
    assert.equal(statSync(path.dirname(file.to)).mode & 0o777, 0o700)
  })

  it('follow when the operator replaces the file', async () => {
    writeFileSync(file.from, 'first')
    await keepCopies([file], me, assert.fail, often())
    writeFileSync(file.from, 'second')
    await until('the copy is the new one', () => copied() === 'second', { limitMs: 5_000 })
  })

  it('stay as they are while the file can not be read, which is reported once', async () => {
    writeFileSync(file.from, 'key')
    const told: string[] = []
    await keepCopies([file], me, (message) => told.push(message), often())
    rmSync(file.from)
    await until('it is told', () => told.length > 0, { limitMs: 5_000 })
    writeFileSync(file.from, 'key again')
    await until('the copy is the new one', () => copied() === 'key again', { limitMs: 5_000 })
    assert.deepEqual(told, [`${file.from} can not be read`])
  })

  it('are made one at a time, even if a copy takes longer than the time between two', async () => {
    const large = (letter: string) => letter.repeat(32 << 20)
    const told: string[] = []
    writeFileSync(file.from, large('a'))
    await keepCopies([file], me, (message) => told.push(message), { everyMs: 1, signal: stopping.signal })
    writeFileSync(file.from, large('b'))
    await until('the copy is the new one', () => copied() === large('b'), { limitMs: 5_000 })
    assert.deepEqual(told, [])
  })

  it('are not made if no file is given', async () => {
    await keepCopies([], me, assert.fail, often())
    assert.ok(!existsSync(path.dirname(file.to)))
  })
})
