import { strict as assert } from 'node:assert'
import { FairSemaphore } from '../../../src/primitives/fair-semaphore.ts'

const never = new AbortController().signal
const longMs = 60_000

/** Pieces of work that begin when the semaphore lets them and end when the test says so. */
class Work {
  readonly semaphore: FairSemaphore
  readonly begun: string[] = []
  readonly waited: number[] = []
  readonly #ends = new Map<string, PromiseWithResolvers<void>>()

  constructor(size: number, perUser: number, countsForMs = longMs) {
    this.semaphore = new FairSemaphore({ size, perUser, countsForMs }, (waitedMs) => {
      this.waited.push(waitedMs)
    })
  }

  /** The first letter of `name` is the user: `a1` is the first piece of work of user `a`. */
  ask(name: string, signal = never): Promise<void> {
    const end = Promise.withResolvers<void>()
    this.#ends.set(name, end)
    return this.semaphore.run(name.slice(0, 1), signal, async () => {
      this.begun.push(name)
      await end.promise
    })
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.resolve()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('a semaphore that is fair to users', () => {
  it('lets work begin within the call while there is room, and tells of no wait', () => {
    const work = new Work(3, 2)
    void work.ask('a1')
    void work.ask('a2')
    void work.ask('b1')
    assert.deepEqual(work.begun, ['a1', 'a2', 'b1'])
    assert.deepEqual(work.waited, [])
  })

  it('keeps a place free for others when one user has the most places that a user may have', async () => {
    const work = new Work(3, 2)
    for (let index = 0; index < 1_000; index++) void work.ask(`a${index}`)
    void work.ask('b')
    assert.deepEqual(work.begun, ['a0', 'a1', 'b'])
    await work.end('b')
    assert.deepEqual(work.begun, ['a0', 'a1', 'b'])
    await work.end('a0')
    assert.deepEqual(work.begun, ['a0', 'a1', 'b', 'a2'])
  })

  it('gives users their turns one after the other, and each user’s work in its order', async () => {
    const work = new Work(1, 1)
    void work.ask('x')
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void work.ask(name)
    for (const name of ['x', 'a1', 'b1', 'c1', 'a2', 'b2']) await work.end(name)
    assert.deepEqual(work.begun, ['x', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
    assert.equal(work.waited.length, 6)
  })

  it('passes on the place of work that fails', async () => {
    const { semaphore } = new Work(1, 1)
    const failing = semaphore.run('a', never, async () => await Promise.reject(new Error('broken')))
    const next = semaphore.run('b', never, async () => await Promise.resolve('came'))
    await assert.rejects(failing, /broken/)
    assert.equal(await next, 'came')
  })

  it('ends a wait whose signal is aborted, and gives that turn to the next', async () => {
    const work = new Work(1, 1)
    void work.ask('x')
    const controller = new AbortController()
    const gone = work.ask('a1', controller.signal)
    void work.ask('b1')
    controller.abort(new Error('stopped'))
    await assert.rejects(gone, /stopped/)
    await assert.rejects(work.ask('a2', controller.signal), /stopped/)
    await work.end('x')
    assert.deepEqual(work.begun, ['x', 'b1'])
  })

  it('gives the place of work that takes too long to the next, and frees no second place at its end', async () => {
    const work = new Work(1, 1, 5)
    void work.ask('a1')
    await new Promise((resolve) => setTimeout(resolve, 20))
    void work.ask('c1')
    assert.deepEqual(work.begun, ['a1', 'c1'])
    await work.end('a1')
    void work.ask('d1')
    void work.ask('e1')
    await work.end('c1')
    assert.deepEqual(work.begun, ['a1', 'c1', 'd1'])
  })
})
