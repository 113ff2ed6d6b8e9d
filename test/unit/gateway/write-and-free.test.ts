import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Socket, connect, createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { writeAndFree } from '../../../src/gateway/write-and-free.ts'

describe('writing a chunk and freeing its memory', () => {
  /** A chunk with memory of its own, as one that was read from a socket. */
  const ownChunk = (bytes: number): Buffer => Buffer.allocUnsafeSlow(bytes).fill('a')

  /** A socket whose kernel takes what it gets when the test says so. */
  class Sink extends Socket {
    taken: (error?: Error) => void = () => undefined

    override _write(_chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
      this.taken = done
    }
  }

  it('frees the memory when the socket has taken the chunk, and not before', async () => {
    const sink = new Sink()
    const chunk = ownChunk(64 << 10)
    assert.equal(writeAndFree(sink, chunk), sink.writableLength < sink.writableHighWaterMark)
    await setImmediate()
    assert.equal(chunk.length, 64 << 10)
    sink.taken()
    await setImmediate()
    assert.equal(chunk.length, 0)
  })

  it('leaves the memory of a slice, and of a small chunk, as it is', async () => {
    const whole = ownChunk(64 << 10)
    const small = ownChunk(100)
    for (const chunk of [whole.subarray(1), whole.subarray(0, 32 << 10), small]) {
      const sink = new Sink()
      writeAndFree(sink, chunk)
      sink.taken()
    }
    await setImmediate()
    assert.deepEqual([whole.length, small.length], [64 << 10, 100])
  })

  it('leaves the memory of a chunk that the socket did not take', async () => {
    const chunk = ownChunk(64 << 10)
    const failing = new Sink().on('error', () => undefined)
    writeAndFree(failing, chunk)
    failing.taken(new Error('broken'))
    const ended = new Sink().on('error', () => undefined)
    writeAndFree(ended, chunk)
    ended.destroy()
    await setImmediate()
    assert.deepEqual([chunk.length, chunk[5]], [64 << 10, 97])
  })

  it('leaves the memory of a chunk that a stream in this process passes on', async () => {
    const stream = new PassThrough()
    writeAndFree(stream, ownChunk(64 << 10))
    await setImmediate()
    assert.equal((stream.read() as Buffer).length, 64 << 10)
  })

  it('passes everything on between sockets, to a reader that is slower', async () => {
    const bytes = randomBytes(8 << 20)
    const receiver = createServer()
    const relay = createServer()
    const relayed: Buffer[] = []
    relay.once('connection', (from: Socket) => {
      const to = connect(portOf(receiver), '127.0.0.1')
      from.on('data', (chunk: Buffer) => {
        relayed.push(chunk)
        if (!writeAndFree(to, chunk)) from.pause()
      })
      to.on('drain', () => from.resume())
      from.on('end', () => to.end())
    })
    for (const server of [receiver, relay]) await once(server.listen(0, '127.0.0.1'), 'listening')
    const hash = createHash('sha256')
    const received = once(receiver, 'connection').then(async ([socket]) => {
      for await (const chunk of socket as Socket) {
        hash.update(chunk as Buffer)
        await setImmediate()
      }
    })
    connect(portOf(relay), '127.0.0.1').end(bytes)
    await received
    assert.equal(hash.digest('hex'), createHash('sha256').update(bytes).digest('hex'))
    const left = relayed.reduce((sum, { length }) => sum + length, 0)
    assert.ok(left < bytes.length / 10, `${left} bytes were not freed`)
    for (const server of [receiver, relay]) server.close()
  })

  const portOf = (server: Server): number => (server.address() as AddressInfo).port
})
