import assert from 'node:assert/strict'
import { duplexPair } from 'node:stream'
import { serveMirror } from '../../../src/host/vmm/nbd-server.ts'
import { MirrorCopy } from './mirror-copy.ts'

const bytes = 1024 * 1024
const kinds = { read: 0, write: 1, disconnect: 2, flush: 3, trim: 4 }

function option(kind: number, length: number): Buffer {
  const head = Buffer.from('IHAVEOPT\0\0\0\0\0\0\0\0', 'latin1')
  head.writeUInt32BE(kind, 8)
  head.writeUInt32BE(length, 12)
  return head
}

function request(kind: number, at: number, length: number, data: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(28)
  head.writeUInt32BE(0x2560_9513, 0)
  head.writeUInt16BE(kind, 6)
  head.writeBigUInt64BE(BigInt(at), 16)
  head.writeUInt32BE(length, 24)
  return Buffer.concat([head, data])
}

const flags = Buffer.from([0, 0, 0, 3])
const greeting = Buffer.concat([flags, option(7, 0)])

/** A VMM whose guest has taken it over may send anything. */
describe('the server of a mirror', () => {
  async function serve(...sent: readonly Buffer[]): Promise<MirrorCopy> {
    const [vmm, own] = duplexPair()
    vmm.resume()
    const copy = new MirrorCopy(bytes)
    const serving = serveMirror(own, copy)
    vmm.end(Buffer.concat(sent))
    try {
      await serving
    } finally {
      own.destroy()
    }
    return copy
  }

  it('takes what is written, until the VMM says that it is done', async () => {
    const data = Buffer.from('written')
    const copy = await serve(
      greeting,
      request(kinds.write, 500, data.length, data),
      request(kinds.disconnect, 0, 0),
    )
    assert.ok(copy.content.subarray(500, 500 + data.length).equals(data))
  })

  it('ends if the target does not take a piece, because the VM may have to stop', async () => {
    const [vmm, own] = duplexPair()
    vmm.write(Buffer.concat([greeting, request(kinds.write, 0, 4, Buffer.from('data'))]))
    vmm.resume()
    const copy = new MirrorCopy(bytes)
    copy.hangs = true
    await assert.rejects(serveMirror(own, copy, { limitMs: 20 }), { name: 'NbdError' })
  })

  it('waits for a client that reads no answers, and keeps none of them', async () => {
    const [vmm, own] = duplexPair()
    vmm.pause()
    const serving = serveMirror(own, new MirrorCopy(bytes))
    vmm.write(greeting)
    const flush = request(kinds.flush, 0, 0)
    vmm.write(Buffer.concat(Array.from({ length: 20_000 }, () => flush)))
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.ok(own.writableLength < 200_000, `${own.writableLength} bytes wait`)
    vmm.destroy()
    own.destroy()
    await assert.rejects(serving)
  })

  const wrong = {
    'the end of the connection in the middle': [greeting, request(kinds.write, 0, 10)],
    'the end of the connection without a word': [greeting],
    'a write beyond the end': [greeting, request(kinds.write, bytes - 5, 10, Buffer.alloc(10))],
    'a write at a place that no number has': [
      greeting,
      request(kinds.write, Number.MAX_SAFE_INTEGER, 10, Buffer.alloc(10)),
    ],
    'a write that is too long': [greeting, request(kinds.write, 0, 0xff_ff_ff_ff)],
    'a write of nothing': [greeting, request(kinds.write, 1, 0)],
    'a read': [greeting, request(kinds.read, 0, 512)],
    'a trim': [greeting, request(kinds.trim, 0, 512)],
    'a request that begins with the wrong number': [greeting, Buffer.alloc(28)],
    'an option that is too long': [flags, option(7, 1_000_000)],
    'an option that begins with other bytes': [flags, Buffer.alloc(16)],
    'options without an end': [flags, ...Array.from({ length: 50 }, () => option(8, 0))],
    'a client that gives up': [flags, option(2, 0)],
  }
  for (const [what, sent] of Object.entries(wrong))
    it(`does not serve ${what}`, async () => {
      await assert.rejects(serve(...sent), { name: 'NbdError' })
    })
})
