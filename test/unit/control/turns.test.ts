import { strict as assert } from 'node:assert'
import { createTurns } from '../../../activities/turns.ts'

describe('turns', () => {
  it('are taken by so many at once, in the order in which they came, and given back by who fails', async () => {
    const takeTurn = createTurns(2)
    const begun: number[] = []
    const pieces = [0, 1, 2, 3, 4].map(() => Promise.withResolvers<number>())
    const done = pieces.map(({ promise }, index) =>
      takeTurn(() => {
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
    assert.equal(await takeTurn(async () => 5), 5)
  })
})
