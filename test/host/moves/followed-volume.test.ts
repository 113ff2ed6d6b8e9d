import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm, stat } from 'node:fs/promises'
import { createServer, get as httpGet } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { FakeMirror } from '../../../src/host/fakes/fake-mirror.ts'
import { TransferClient } from '../../../src/host/moves/transfer-client.ts'
import { copyHeader, TransferServer } from '../../../src/host/moves/transfer-server.ts'
import { NotHeldError, TransferError } from '../../../src/host/moves/transfers.ts'
import type { HeldSource, OfferedVolume } from '../../../src/host/moves/transfers.ts'
import { until } from '../../support/until.ts'

const uuid = '00000000-0000-4000-8000-000000000001'
const oldAddress = '127.0.0.2'
const newAddress = '127.0.0.3'
const mebibyte = 1024 * 1024
const bytes = 8 * mebibyte
const never = new AbortController().signal
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }

describe('a volume that another host copies and follows', () => {
  const copyUuid = randomUUID()
  let directory: string
  let server: TransferServer
  let from: { readonly nodeId: string; readonly address: string; readonly port: number }
  let mirror: FakeMirror | undefined
  const oldFile = () => join(directory, 'old.img')
  const newFile = () => join(directory, 'new.img')

  const offered: OfferedVolume = {
    copyUuid,
    bytes,
    mirror: async (target) => {
      mirror = new FakeMirror(oldFile(), target)
      return await Promise.resolve(mirror)
    },
  }
  const source: HeldSource = {
    copyFor: async () => await Promise.resolve(undefined),
    fileFor: async () => await Promise.resolve(undefined),
    volumeFor: (_, address) => (address === newAddress ? offered : undefined),
    taken: async () => await Promise.resolve(false),
  }

  beforeEach(async () => {
    mirror = undefined
    directory = await mkdtemp(join(tmpdir(), 'roost-followed-'))
    for (const path of [oldFile(), newFile()]) await emptyFile(path)
    await listen(new TransferServer(quiet))
  })
  afterEach(async () => {
    mirror?.cancel()
    await server.close()
    await rm(directory, { recursive: true, force: true })
  })

  async function listen(next: TransferServer): Promise<void> {
    server = next
    from = { nodeId: 'old', address: oldAddress, port: await server.listen(source, oldAddress) }
  }

  async function emptyFile(path: string): Promise<void> {
    await using file = await open(path, 'w')
    await file.truncate(bytes)
  }

  async function writeOld(at: number, data: Buffer): Promise<void> {
    await using file = await open(oldFile(), 'r+')
    await file.write(data, 0, data.length, at)
  }

  /** Begins to follow, and resolves once the copy has all. */
  async function following(options: { readonly signal?: AbortSignal; readonly place?: typeof from } = {}) {
    const isReady = Promise.withResolvers<void>()
    const wanted = { from: options.place ?? from, instanceUuid: uuid, bytes, path: newFile() }
    const client = new TransferClient(newAddress)
    const result = client.followVolume({ ...wanted, onReady: isReady.resolve }, options.signal ?? never)
    result.catch(isReady.reject)
    return { ready: isReady.promise, result }
  }

  /** The VM writes to its volume. */
  async function write(at: number, data: Buffer): Promise<void> {
    await writeOld(at, data)
    mirror?.write(at, data)
  }

  async function sleep(): Promise<void> {
    assert.equal(await mirror?.finish(), true)
    mirror?.complete()
  }

  async function assertSame(): Promise<void> {
    assert.ok((await readFile(newFile())).equals(await readFile(oldFile())), 'the copy is another one')
  }

  it('has all that was there and all that is written until its VM sleeps, and no more on the disk', async () => {
    await writeOld(3 * mebibyte, randomBytes(100_000))
    const copy = await following()
    await copy.ready
    await assertSame()
    await write(3 * mebibyte + 1_000, Buffer.alloc(70_000))
    await write(5 * mebibyte - 10, randomBytes(20))
    await write(3 * mebibyte + 500, randomBytes(2 * mebibyte))
    await write(7 * mebibyte, Buffer.alloc(mebibyte))
    await sleep()
    assert.equal(await copy.result, copyUuid)
    await assertSame()
    assert.ok((await stat(newFile())).blocks * 512 < 3 * mebibyte, 'what is empty stays empty')
  })

  it('is of no use if its VM does not fall asleep', async () => {
    const copy = await following()
    await copy.ready
    mirror?.cancel()
    await assert.rejects(copy.result, TransferError)
  })

  it('ends at the old host, too, when the new one calls it off', async () => {
    const controller = new AbortController()
    const copy = await following({ signal: controller.signal })
    await copy.ready
    controller.abort()
    await assert.rejects(copy.result, { name: 'AbortError' })
    assert.equal(await mirror?.over, false)
  })

  it('is not there for another host, nor with another size', async () => {
    const wanted = { from, instanceUuid: uuid, path: newFile(), onReady: () => undefined }
    const other = new TransferClient('127.0.0.4')
    await assert.rejects(other.followVolume({ ...wanted, bytes }, never), NotHeldError)
    const client = new TransferClient(newAddress)
    await assert.rejects(client.followVolume({ ...wanted, bytes: bytes - 1 }, never), NotHeldError)
    assert.equal(mirror, undefined)
  })

  it('ends if the new host takes in too little', async () => {
    await server.close()
    await listen(new TransferServer(quiet, { paceMs: 300 }))
    await writeOld(0, randomBytes(bytes))
    const path = `/instances/${uuid}/volume?bytes=${bytes}`
    const asked = httpGet({
      host: from.address,
      port: from.port,
      path,
      localAddress: newAddress,
      agent: false,
    })
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    response.on('error', () => undefined).pause()
    const begun = await until('the copy begins', () => mirror, { limitMs: 5_000 })
    assert.equal(await begun.over, false)
    asked.destroy()
  })

  describe('from a host that lies', () => {
    const head = (at: number, length: number, sent: number): Buffer => {
      const text = Buffer.alloc(16)
      text.writeBigUInt64BE(BigInt(at))
      text.writeUInt32BE(length, 8)
      text.writeUInt32BE(sent, 12)
      return text
    }
    const bomb = zstdCompressSync(Buffer.alloc(64 * mebibyte))
    const lies = {
      'a place beyond the end': head(bytes, 1, 0),
      'a piece that is too long': Buffer.concat([head(0, 5 * mebibyte, 4), Buffer.from('long')]),
      'zeros that are longer than a piece': head(0, 5 * mebibyte, 0),
      'a few bytes that become many': Buffer.concat([head(0, mebibyte, bomb.length), bomb]),
      'a length that is not that of the piece': Buffer.concat([
        head(0, 7, 13),
        zstdCompressSync(Buffer.from('123')),
      ]),
      'no checksum': head(0, mebibyte, 0),
      'half a piece': head(0, mebibyte, 20),
    }
    for (const [what, body] of Object.entries(lies))
      it(`does not take ${what}`, async () => {
        const liar = createServer((_, response) => {
          response.writeHead(200, { [copyHeader]: copyUuid }).end(body)
        })
        liar.listen(0, oldAddress)
        await once(liar, 'listening')
        try {
          const place = { ...from, port: (liar.address() as AddressInfo).port }
          const copy = await following({ place })
          copy.ready.catch(() => undefined)
          await assert.rejects(copy.result, TransferError)
        } finally {
          liar.closeAllConnections()
          liar.close()
        }
      })
  })
})
