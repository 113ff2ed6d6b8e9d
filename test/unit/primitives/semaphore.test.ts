import { strict as assert } from 'node:assert'
import { Semaphore } from '../../../src/primitives/semaphore.ts'

describe('a semaphore', () => {
  it('gives the place of work that takes too long to the next, and frees no second place at its end', async () => {
    const semaphore = new Semaphore(1, 5)
    const stuck = Promise.withResolvers<void>()
    const second = Promise.withResolvers<void>()
    const begun: number[] = []
    const work = (number: number, ends: Promise<void>) => async (): Promise<void> => {
      begun.push(number)
      await ends
    }
    const first = semaphore.run(work(1, stuck.promise))
    const next = semaphore.run(work(2, second.promise))
    const third = semaphore.run(work(3, Promise.resolve()))
    assert.deepEqual(begun, [1])
    await new Promise((resolve) => setTimeout(resolve, 1))
    while (begun.length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
    assert.deepEqual(begun.slice(0, 2), [1, 2])
    stuck.resolve()
    second.resolve()
    await Promise.all([first, next, third])
    assert.deepEqual(begun, [1, 2, 3])
  })

  it('runs as many as its size at once, in the order in which they came, and the next when one fails', async () => {
    const semaphore = new Semaphore(2)
    const begun: number[] = []
    const pieces = [0, 1, 2, 3, 4].map(() => Promise.withResolvers<number>())
    const done = pieces.map(({ promise }, index) =>
      semaphore.run(() => {
        begun.push(index)
        return promise
      }),
    )
    await Promise.resolve()
    assert.deepEqual(begun, [0, 1])
    pieces[1]!.reject(new Error('broken'))
    await assert.rejects(done[1]!, /broken/)
    assert.deepEqual(begun, [0, 1, 2])
    pieces[2]!.resolve(2)
    assert.equal(await done[2], 2)
    pieces[0]!.resolve(0)
    assert.equal(await done[0], 0)
    assert.deepEqual(begun, [0, 1, 2, 3, 4])
    for (const [index, { resolve }] of pieces.entries()) resolve(index)
    assert.deepEqual(await Promise.all([done[3], done[4]]), [3, 4])
    assert.equal(await semaphore.run(async () => 5), 5)
  })

  it('gives up a wait that is called off, and leaves the place to the next', async () => {
    const semaphore = new Semaphore(1)
    const first = Promise.withResolvers<void>()
    const running = semaphore.run(() => first.promise)
    const controller = new AbortController()
    const calledOff = semaphore.run(() => Promise.reject(new Error('begun')), controller.signal)
    const next = semaphore.run(async () => 'next')
    controller.abort(new Error('called off'))
    await assert.rejects(calledOff, /called off/)
    first.resolve()
    await running
    assert.equal(await next, 'next')
  })
})
