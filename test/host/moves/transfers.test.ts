import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { createServer, get as httpGet } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { zstdCompressSync } from 'node:zlib'
import type { HeldCopy, HeldFile } from '../../../src/host/moves/held-copy.ts'
import { TransferClient } from '../../../src/host/moves/transfer-client.ts'
import { checksumTrailer, TransferServer } from '../../../src/host/moves/transfer-server.ts'
import { TransferError, transferLimitMs, transfersPerHost } from '../../../src/host/moves/transfers.ts'
import type { HeldSource } from '../../../src/host/moves/transfers.ts'

const uuid = '00000000-0000-4000-8000-000000000001'
const oldAddress = '127.0.0.2'
const newAddress = '127.0.0.3'
const otherAddress = '127.0.0.4'
/** Something is held for this machine, too. */
const secondAddress = '127.0.0.5'
const mebibyte = 1024 * 1024
const never = new AbortController().signal
const memory = 'snapshot/memory'
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }

describe('a transfer between two hosts', () => {
  let directory: string
  let taken = 0
  let isHeld = true
  let server: TransferServer
  let from: { readonly nodeId: string; readonly address: string; readonly port: number }
  const copy = { version: 1, files: [] } as unknown as HeldCopy

  const source: HeldSource = {
    copyFor: async (_, address) => await Promise.resolve(address === newAddress ? copy : undefined),
    fileFor: async (_, address, name) => {
      if (address !== newAddress && address !== secondAddress) return undefined
      return await Promise.resolve({ path: join(directory, 'old', name), isHeld: () => isHeld })
    },
    volumeFor: () => undefined,
    taken: async (_, address) => {
      if (address === newAddress) taken += 1
      return await Promise.resolve(address === newAddress)
    },
  }

  beforeEach(async () => {
    isHeld = true
    directory = await mkdtemp(join(tmpdir(), 'roost-transfer-'))
    await mkdir(join(directory, 'old', 'snapshot'), { recursive: true })
    server = new TransferServer(quiet)
    from = { nodeId: 'old', address: oldAddress, port: await server.listen(source, oldAddress) }
  })
  afterEach(async () => {
    await server.close()
    await rm(directory, { recursive: true, force: true })
  })

  const target = (): string => join(directory, 'arrived')
  const fetchFile = async (file: HeldFile, place = from, address = newAddress) =>
    await new TransferClient(address).fetchFile(
      { from: place, instanceUuid: uuid, file, path: target() },
      never,
    )

  /** New hosts that ask for a file, and read no more of the answer than arrives by itself. */
  async function readNothing(place: typeof from, file: HeldFile, count = 1): Promise<IncomingMessage[]> {
    const path = `/instances/${uuid}/files/${encodeURIComponent(file.name)}?bytes=${file.bytes}`
    const options = { host: place.address, port: place.port, path, localAddress: newAddress, agent: false }
    return await Promise.all(
      Array.from({ length: count }, async () => {
        const asked = httpGet(options)
        const [response] = (await once(asked, 'response')) as [IncomingMessage]
        response.on('error', () => undefined).pause()
        return response
      }),
    )
  }

  /** An old host that does not keep to the rules. */
  async function lie(
    answer: (response: ServerResponse) => void,
  ): Promise<{ server: Server; place: typeof from }> {
    const liar = createServer((_, response) => answer(response))
    liar.listen(0, oldAddress)
    await once(liar, 'listening')
    return { server: liar, place: { ...from, port: (liar.address() as AddressInfo).port } }
  }

  function answerWith(content: Buffer, checksum = createHash('sha256').update(content).digest('hex')) {
    return (response: ServerResponse): void => {
      response.writeHead(200, { trailer: checksumTrailer })
      response.write(zstdCompressSync(content))
      response.addTrailers({ [checksumTrailer]: checksum })
      response.end()
    }
  }

  it('is at one port, however many ask for it at once, and at none once it is closed', async () => {
    const other = new TransferServer(quiet)
    const ports = await Promise.all([1, 2, 3].map(async () => await other.listen(source, oldAddress)))
    assert.equal(new Set(ports).size, 1)
    await other.close()
    await assert.rejects(other.listen(source, oldAddress), /its agent ends/)
    const closing = new TransferServer(quiet)
    const listening = closing.listen(source, oldAddress)
    await closing.close()
    const port = await listening
    await assert.rejects(fetch(`http://${oldAddress}:${port}/`), { name: 'TypeError' })
  })

  it('brings a memory over byte by byte, little of it over the wire, and leaves out what is empty', async () => {
    const content = Buffer.alloc(32 * mebibyte)
    randomBytes(mebibyte).copy(content, 5 * mebibyte + 7)
    content.write('the end', content.length - 7)
    await writeFile(join(directory, 'old', memory), content)
    const { bytes, compressedBytes } = await fetchFile({ name: memory, bytes: content.length })
    assert.equal(bytes, content.length)
    assert.ok(compressedBytes < 1.1 * mebibyte, String(compressedBytes))
    assert.ok((await readFile(target())).equals(content))
    const { blocks, mode } = await stat(target())
    assert.ok(blocks * 512 < 2 * mebibyte, String(blocks))
    assert.equal(mode & 0o777, 0o600)
  })

  it('writes a volume into the file that was made for it, and leaves its holes', async () => {
    const content = Buffer.alloc(8 * mebibyte)
    randomBytes(100_000).copy(content, 3 * mebibyte)
    await writeFile(join(directory, 'old', 'volume.img'), content)
    const file = { name: 'volume.img', bytes: content.length }
    const wanted = { from, instanceUuid: uuid, file, path: target(), isMade: true } as const
    await writeFile(target(), '')
    await truncate(target(), content.length)
    await new TransferClient(newAddress).fetchFile(wanted, never)
    assert.ok((await readFile(target())).equals(content))
    const { blocks } = await stat(target())
    assert.ok(blocks * 512 < mebibyte, String(blocks))
  })

  it('takes no piece of a volume that is beyond its end, out of order, too long, cut or other than told', async () => {
    const bytes = 2 * mebibyte
    const piece = (at: number, length: number, content = Buffer.alloc(length, 'x')): Buffer => {
      const head = Buffer.alloc(12)
      head.writeBigUInt64BE(BigInt(at))
      head.writeUInt32BE(length, 8)
      return Buffer.concat([head, content])
    }
    const good = piece(5, 100)
    const fetchFrom = async (answer: (response: ServerResponse) => void) => {
      await writeFile(target(), '')
      await truncate(target(), bytes)
      const { server: liar, place } = await lie(answer)
      const file = { name: 'volume.img', bytes }
      const wanted = { from: place, instanceUuid: uuid, file, path: target(), isMade: true } as const
      try {
        await new TransferClient(newAddress).fetchFile(wanted, never)
      } finally {
        liar.close()
      }
      return await readFile(target())
    }
    const arrived = await fetchFrom(answerWith(Buffer.concat([good, piece(mebibyte, 3)])))
    assert.deepEqual([arrived.length, arrived.subarray(5, 105).toString()], [bytes, 'x'.repeat(100)])
    const lies = [
      answerWith(piece(bytes - 99, 100)),
      answerWith(piece(2 ** 60, 1)),
      answerWith(Buffer.concat([good, piece(104, 1)])),
      answerWith(Buffer.concat([good, good])),
      answerWith(piece(0, 0)),
      answerWith(piece(0, mebibyte + 1)),
      answerWith(piece(0, 100, Buffer.alloc(99))),
      answerWith(Buffer.alloc(7)),
      answerWith(good, '0'.repeat(64)),
    ]
    for (const [index, answer] of lies.entries())
      await assert.rejects(fetchFrom(answer), TransferError, String(index))
  })

  it('brings empty files, and files that end in a hole', async () => {
    for (const content of [Buffer.alloc(0), Buffer.alloc(3 * mebibyte)]) {
      await writeFile(join(directory, 'old', memory), content)
      await fetchFile({ name: memory, bytes: content.length })
      assert.ok((await readFile(target())).equals(content))
      await rm(target())
    }
  })

  it('is for the one machine to which the instance moves: for any other there is nothing', async () => {
    await writeFile(join(directory, 'old', memory), 'secret')
    const other = new TransferClient(otherAddress)
    await assert.rejects(other.copyOf(from, uuid, never), /it does not hold the instance for this host/)
    await assert.rejects(fetchFile({ name: memory, bytes: 6 }, from, otherAddress), /does not hold/)
    const hold = { instanceUuid: uuid, holdUuid: uuid }
    await other.tellTaken(from, hold, never)
    assert.equal(taken, 0)
    const client = new TransferClient(newAddress)
    assert.deepEqual(await client.copyOf(from, uuid, never), copy)
    await client.tellTaken(from, hold, never)
    assert.equal(taken, 1)
  })

  it('gives no file but those that belong to a copy', async () => {
    await writeFile(join(directory, 'old', 'record.json'), 'secret')
    await writeFile(join(directory, 'secret'), 'secret')
    for (const name of [
      'record.json',
      '../secret',
      'snapshot/../../secret',
      'console/../../secret',
      '%2e%2e/secret',
    ]) {
      await assert.rejects(fetchFile({ name, bytes: 6 }), name)
      await rm(target(), { force: true })
    }
  })

  it('a byte that was damaged, a part that is missing and a part too many are noticed', async () => {
    const content = randomBytes(200_000)
    const damaged = Buffer.from(content)
    damaged[77_777] = (damaged[77_777] ?? 0) ^ 1
    const right = createHash('sha256').update(content).digest('hex')
    for (const [what, answer, why] of [
      ['a damaged byte', answerWith(damaged, right), /is not what host old has/],
      ['no checksum', answerWith(content, ''), /is not what host old has/],
      ['less', answerWith(content.subarray(1)), /is not what host old has/],
      ['more', answerWith(Buffer.concat([content, content])), /more than 200000 bytes/],
      ['a bomb', answerWith(Buffer.alloc(64 * mebibyte)), /more than 200000 bytes/],
      [
        'a cut connection',
        (response: ServerResponse): void => {
          response.writeHead(200, { trailer: checksumTrailer })
          response.write(zstdCompressSync(content).subarray(0, 100_000), () => response.destroy())
        },
        /could not be read from host old/,
      ],
      [
        'an end too soon',
        (response: ServerResponse): void => void response.end(zstdCompressSync(content).subarray(0, 100_000)),
        /host old/,
      ],
    ] as const) {
      const liar = await lie(answer)
      await assert.rejects(fetchFile({ name: memory, bytes: content.length }, liar.place), why, what)
      liar.server.close()
      await rm(target(), { force: true })
    }
  })

  it('ends at a limit of time, while bytes still come', async () => {
    const limitMs = () => 300
    const client = new TransferClient(newAddress, { limitMs })
    const fetchIt = async (place: typeof from) => {
      const file = { name: memory, bytes: 1_000_000 }
      return await client.fetchFile({ from: place, instanceUuid: uuid, file, path: target() }, never)
    }
    const drops = zstdCompressSync(randomBytes(1_000_000))
    for (const [what, begin] of [
      ['drops', (response: ServerResponse) => void response.writeHead(200, { trailer: checksumTrailer })],
      ['always busy', (response: ServerResponse) => void response.writeHead(503).end()],
    ] as const) {
      const liar = await lie((response) => {
        begin(response)
        let at = 0
        const timer = setInterval(() => response.write(drops.subarray(at, (at += 10))), 20)
        response.once('close', () => clearInterval(timer))
      })
      await assert.rejects(fetchIt(liar.place), /host old did not send snapshot\/memory within/, what)
      if (what === 'drops')
        await assert.rejects(client.copyOf(liar.place, uuid, never), /did not send what it has within/)
      liar.server.closeAllConnections()
      liar.server.close()
      await rm(target(), { force: true })
    }
  })

  it('ends while the new host reads too little, and the old one then sends it something else', async () => {
    const slow = new TransferServer(quiet, { paceMs: 300 })
    const place = { ...from, port: await slow.listen(source, oldAddress) }
    const content = randomBytes(24 * mebibyte)
    await writeFile(join(directory, 'old', memory), content)
    await readNothing(place, { name: memory, bytes: content.length }, transfersPerHost)
    const file = { name: memory, bytes: 1_000 }
    const wanted = { from: place, instanceUuid: uuid, file, path: target() }
    const { bytes } = await new TransferClient(newAddress).fetchFile(wanted, AbortSignal.timeout(5_000))
    assert.equal(bytes, 1_000)
    await slow.close()
  })

  it('ends while the old host sends too little, however long the whole file may take', async () => {
    const drops = zstdCompressSync(randomBytes(1_000_000))
    const liar = await lie((response) => {
      response.writeHead(200, { trailer: checksumTrailer })
      response.write(drops.subarray(0, 700_000))
      let at = 700_000
      const timer = setInterval(() => response.write(drops.subarray(at, (at += 10))), 20)
      response.once('close', () => clearInterval(timer))
    })
    const file = { name: memory, bytes: 1_000_000 }
    const wanted = { from: liar.place, instanceUuid: uuid, file, path: target() }
    const fetching = new TransferClient(newAddress, { paceMs: 200 }).fetchFile(wanted, never)
    await assert.rejects(fetching, /could not be read from host old: only \d+ bytes went over in 0.2 s/)
    liar.server.closeAllConnections()
    liar.server.close()
  })

  it('leaves turns to others while one machine takes all that it gets', async () => {
    const content = randomBytes(24 * mebibyte)
    await writeFile(join(directory, 'old', memory), content)
    await readNothing(from, { name: memory, bytes: content.length }, transfersPerHost)
    const file = { name: memory, bytes: 1_000 }
    const wanted = { from, instanceUuid: uuid, file, path: target() }
    const soon = AbortSignal.timeout(5_000)
    assert.equal((await new TransferClient(secondAddress).fetchFile(wanted, soon)).bytes, 1_000)
  })

  for (const name of [memory, 'volume.img'])
    it(`carries nothing that is read of ${name} once the hold is over`, async () => {
      const content = randomBytes(24 * mebibyte)
      await writeFile(join(directory, 'old', name), content)
      const [response] = await readNothing(from, { name, bytes: content.length })
      assert.ok(response !== undefined)
      isHeld = false
      let bytes = 0
      response.on('data', (piece: Buffer) => (bytes += piece.length)).resume()
      await new Promise((resolve) => response.once('close', resolve))
      assert.equal(response.complete, false)
      assert.ok(bytes < content.length, String(bytes))
    })

  it('has a limit that grows with its bytes', () => {
    assert.deepEqual([transferLimitMs(0), transferLimitMs(60_000_000)], [60_000, 120_000])
  })

  it('takes no more bytes from the wire than the content can have', async () => {
    // A frame that a decompressor skips, so it unpacks to nothing.
    const empty = Buffer.alloc(8 + 2 * mebibyte)
    empty.writeUInt32LE(0x18_4d_2a_50)
    empty.writeUInt32LE(2 * mebibyte, 4)
    const liar = await lie((response) => void response.writeHead(200).end(empty))
    await assert.rejects(fetchFile({ name: memory, bytes: 10 }, liar.place), /bytes on the wire/)
    liar.server.close()
  })

  it('a copy that is no text of a copy fails without a word of it', async () => {
    const liar = await lie((response) => void response.end('{"SECRET": hush}'))
    await assert.rejects(new TransferClient(newAddress).copyOf(liar.place, uuid, never), (error) => {
      assert.ok(error instanceof TransferError)
      assert.match(error.message, /host old did not tell what it has: its answer is no JSON/)
      assert.doesNotMatch(inspect(error), /SECRET|hush/)
      return true
    })
    liar.server.close()
  })

  it('a copy that is told in too many bytes is not read', async () => {
    const liar = await lie((response) => void response.end(Buffer.alloc(9 * mebibyte, ' ')))
    await assert.rejects(new TransferClient(newAddress).copyOf(liar.place, uuid, never), /tells more than/)
    liar.server.close()
  })

  it('sends only so many files at once: who comes later waits', async () => {
    const content = randomBytes(24 * mebibyte)
    await writeFile(join(directory, 'old', memory), content)
    const file = { name: memory, bytes: content.length }
    const client = new TransferClient(newAddress)
    const paths = Array.from({ length: transfersPerHost + 2 }, (_, index) => join(directory, String(index)))
    await Promise.all(
      paths.map(async (path) => await client.fetchFile({ from, instanceUuid: uuid, file, path }, never)),
    )
    for (const path of paths) assert.equal((await stat(path)).size, content.length)
  })

  it('ends at once when it is called off', async () => {
    const liar = await lie((response) => {
      response.writeHead(200).flushHeaders()
    })
    const controller = new AbortController()
    const wanted = { from: liar.place, instanceUuid: uuid, file: { name: memory, bytes: 10 }, path: target() }
    const fetching = new TransferClient(newAddress).fetchFile(wanted, controller.signal)
    setTimeout(() => controller.abort(), 50)
    await assert.rejects(fetching, { name: 'AbortError' })
    liar.server.closeAllConnections()
    liar.server.close()
  })
})
