import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { protocols, understands } from '../../src/domain/protocols.ts'
import type { Protocol, ProtocolName } from '../../src/domain/protocols.ts'
import { fileReaders } from './file-readers.ts'
import { asLater, asToday, recordingsOf } from './recording.ts'
import type { Reader } from './recording.ts'
import { wireReaders } from './wire-readers.ts'

const readers: Readonly<Record<ProtocolName, Reader>> = { ...wireReaders, ...fileReaders }
const root = path.resolve(import.meta.dirname, '../..')

describe('what parts say to each other and leave for each other', () => {
  let directory: string
  beforeEach(async () => (directory = await mkdtemp(path.join(tmpdir(), 'roost-protocols-'))))
  afterEach(async () => await rm(directory, { recursive: true, force: true }))

  for (const [name, row] of Object.entries(protocols) as readonly (readonly [ProtocolName, Protocol])[]) {
    describe(`${row.what} (${name})`, () => {
      const recordings = recordingsOf(name)

      it('has a reader where the table says, and messages of its version are recorded', () => {
        assert.ok(existsSync(path.join(root, row.reader)), row.reader)
        assert.ok(recordings.some(({ version }) => version === row.version))
        assert.ok(recordings.every(({ version }) => understands(row, version)))
      })

      for (const [index, recorded] of recordings.entries()) {
        const title = `${recorded.kind} of version ${recorded.version} (${index + 1})`
        const { message, reads = message } = recorded

        it(`reads ${title}`, async () => {
          assert.deepEqual(asToday(await readers[name](recorded, directory)), reads)
        })

        it(`reads ${title} with fields of a later version`, async () => {
          const later = { ...recorded, message: asLater(message) }
          assert.deepEqual(asToday(await readers[name](later, directory)), reads)
        })
      }
    })
  }
})
