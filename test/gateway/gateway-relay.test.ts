import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import type { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { TcpRelay } from '../../src/gateway/tcp/tcp-relay.ts'
import type { Admission } from '../../src/gateway/traffic.ts'

/**
 * A pipe that nobody reads holds 64 KiB, so it is full after two of these. What is written then waits at the
 * writer, which may hold as much.
 */
const words = 'w'.repeat(40_000)
const lastWord = 'l'.repeat(10_000)
const lastWords = words + words + lastWord

/**
 * Writes `lastWords` and ends the stream. The last of it still waits in the relay when the relay sees the
 * end.
 */
async function sayLastWords(stream: Duplex): Promise<void> {
  stream.write(words)
  await setImmediate()
  stream.write(words)
  await setImmediate()
  stream.end(lastWord)
}

/** A relay between two pipes in this process. No kernel buffers them, so the relay keeps what is not read. */
class Scene {
  readonly client: Duplex
  readonly application: Duplex
  readonly relayed: { readonly client: Duplex; readonly upstream: Duplex }
  done = 0
  wakings: ((stands: boolean) => void)[] = []
  asleep = false
  #end: ((why: 'close' | 'gone') => void) | undefined

  constructor() {
    const [client, atClient] = duplexPair({ allowHalfOpen: true })
    const [upstream, application] = duplexPair({ allowHalfOpen: true })
    this.client = client
    this.application = application
    this.relayed = { client: atClient, upstream }
    for (const each of [atClient, upstream]) Object.assign(each, { setTimeout: () => undefined })
    const admission: Pick<Admission, 'done' | 'onEnd' | 'touch' | 'awaken'> = {
      done: () => {
        this.done += 1
      },
      onEnd: (listener) => {
        this.#end = listener
        return () => {
          this.#end = undefined
        }
      },
      touch: () => undefined,
      awaken: () => (this.asleep ? new Promise((resolve) => this.wakings.push(resolve)) : undefined),
    }
    new TcpRelay(atClient as Socket, upstream as Socket, admission as Admission).start()
  }

  tell(why: 'close' | 'gone'): void {
    this.#end?.(why)
  }
}

async function text(stream: Duplex): Promise<string> {
  let all = ''
  stream.on('data', (chunk: Buffer) => {
    all += String(chunk)
  })
  await once(stream, 'end')
  return all
}

describe('the relay between a client and an instance', () => {
  it('keeps the connection to an instance after both sides have ended, until the instance has read everything', async () => {
    const { client, application, relayed } = new Scene()
    application.end()
    client.resume()
    await once(client, 'end')
    const closed = once(relayed.client, 'close')
    await sayLastWords(client)
    await closed
    assert.equal(await text(application), lastWords)
  })

  it('wakes an instance that ended its side, to pass on the end of a client that then leaves', async () => {
    const scene = new Scene()
    scene.application.end()
    scene.client.resume()
    await once(scene.client, 'end')
    scene.asleep = true
    scene.client.end()
    await once(scene.relayed.client, 'close')
    assert.equal(scene.done, 0)
    const closed = once(scene.relayed.upstream, 'close')
    scene.wakings[0]?.(true)
    assert.equal(await text(scene.application), '')
    await closed
    assert.equal(scene.done, 1)
  })

  it('is done with the instance once the instance has closed, however late the client reads', async () => {
    const { client, application, done } = await closedByInstance()
    assert.equal(done(), 1)
    assert.equal(await text(client), 'last words')
    application.destroy()
  })

  it('gives the client all that an instance wrote if it ended its side before it was gone', async () => {
    const scene = new Scene()
    const ended = once(scene.relayed.upstream, 'end')
    await sayLastWords(scene.application)
    await ended
    scene.tell('gone')
    assert.equal(await text(scene.client), lastWords)
    assert.equal(scene.done, 1)
  })

  it('breaks the connection off if the instance is gone before it ended its side', async () => {
    const scene = new Scene()
    scene.application.write('half a')
    await once(scene.client, 'readable')
    scene.tell('gone')
    await once(scene.relayed.client, 'close')
    assert.equal(scene.relayed.client.writableFinished, false)
    assert.equal(scene.done, 1)
  })

  it('keeps the connection while the instance shuts down, because the application may still write', async () => {
    const scene = new Scene()
    scene.tell('close')
    scene.application.end('goodbye')
    assert.equal(await text(scene.client), 'goodbye')
  })

  it('passes on what a client wrote, and its end, once the sleeping instance is awake', async () => {
    const scene = new Scene()
    scene.asleep = true
    scene.client.end('wake up')
    await once(scene.relayed.client, 'end')
    assert.equal(scene.relayed.upstream.writableLength, 0)
    scene.wakings[0]?.(true)
    assert.equal(await text(scene.application), 'wake up')
    assert.equal(scene.wakings.length, 1)
  })

  it('wakes a sleeper even if a client only ends its side', async () => {
    const scene = new Scene()
    scene.asleep = true
    scene.client.end()
    await once(scene.relayed.client, 'end')
    scene.wakings[0]?.(true)
    assert.equal(await text(scene.application), '')
  })

  async function closedByInstance() {
    const scene = new Scene()
    scene.application.end('last words')
    scene.client.end()
    await Promise.all([text(scene.application), once(scene.relayed.upstream, 'close')])
    return { client: scene.client, application: scene.application, done: () => scene.done }
  }
})
