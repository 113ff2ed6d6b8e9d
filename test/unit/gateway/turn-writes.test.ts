import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { writeInTurn } from '../../../src/gateway/http/turn-writes.ts'

describe('writes of one turn of the event loop', () => {
  let written: string[] = []

  class Sink extends Socket {
    readonly #name: string

    constructor(name: string) {
      super()
      this.#name = name
    }

    override _write(chunk: string, _encoding: BufferEncoding, done: () => void): void {
      written.push(`${this.#name}:${chunk}`)
      done()
    }

    override _writev(chunks: { chunk: string | Buffer }[], done: () => void): void {
      written.push(`${this.#name}:${chunks.map(({ chunk }) => chunk.toString('latin1')).join('+')}`)
      done()
    }

    override _destroy(error: Error | null, done: (error: Error | null) => void): void {
      done(error)
    }
  }

  /** Sockets `s0`, `s1` and so on, of which nothing waits. */
  async function sinks(count: number): Promise<Sink[]> {
    await setImmediate()
    written = []
    return Array.from({ length: count }, (_, index) => new Sink(`s${index}`))
  }

  it('begin with one at once; the others follow together, in the order of their sockets', async () => {
    const [first, second, third] = (await sinks(3)) as [Sink, Sink, Sink]
    writeInTurn(first, 'a')
    assert.deepEqual(written, ['s0:a'])
    writeInTurn(second, 'b')
    writeInTurn(third, 'c')
    writeInTurn(second, 'd')
    writeInTurn(first, 'é')
    assert.deepEqual(written, ['s0:a'])
    assert.equal(second.writableLength, 2)
    await setImmediate()
    assert.deepEqual(written, ['s0:a', 's1:b+d', 's2:c', 's0:é'])
    writeInTurn(third, 'e')
    assert.equal(written.at(-1), 's2:e')
  })

  it('keep their order with what is written to the socket itself', async () => {
    const [first, second] = (await sinks(2)) as [Sink, Sink]
    writeInTurn(first, 'a')
    writeInTurn(second, 'head')
    second.write('body')
    await setImmediate()
    assert.deepEqual(written, ['s0:a', 's1:head+body'])
  })

  it('are sent when their socket is ended, and dropped when it is destroyed', async () => {
    const [first, ended, destroyed] = (await sinks(3)) as [Sink, Sink, Sink]
    writeInTurn(first, 'a')
    writeInTurn(ended, 'last')
    ended.end()
    assert.deepEqual(written, ['s0:a', 's1:last'])
    writeInTurn(destroyed, 'never')
    destroyed.destroy()
    await setImmediate()
    assert.deepEqual(written, ['s0:a', 's1:last'])
  })

  it('do not wait for the end of the turn when there are many', async () => {
    const [first, ...others] = (await sinks(66)) as [Sink, ...Sink[]]
    writeInTurn(first, 'a')
    for (const other of others) writeInTurn(other, 'b')
    assert.equal(written.length, 65)
    await setImmediate()
    assert.equal(written.length, 66)
  })
})
