import assert from 'node:assert/strict'
import { holdersOverBudget } from '../../src/gateway/http/held-bytes.ts'

describe('who has to go because of what is held', () => {
  const over = (holders: readonly (readonly [string, number])[], budget: number) =>
    holdersOverBudget(
      holders.map(([source, bytes]) => ({ source, bytes })),
      budget,
    ).map(({ source, bytes }) => `${source} ${bytes}`)

  it('is nobody while each source holds its budget at most, however many sources there are', () => {
    assert.deepEqual(over([], 10), [])
    assert.deepEqual(
      over(
        [
          ['a', 6],
          ['a', 4],
          ['b', 10],
          ['c', 10],
        ],
        10,
      ),
      [],
    )
  })

  it('are those of a source that hold most, and no more of them than it takes', () => {
    assert.deepEqual(
      over(
        [
          ['a', 1],
          ['a', 8],
          ['b', 9],
          ['a', 5],
          ['a', 7],
        ],
        10,
      ),
      ['a 8', 'a 7'],
    )
  })

  it('is also one that alone holds more', () => {
    assert.deepEqual(
      over(
        [
          ['a', 11],
          ['a', 10],
        ],
        10,
      ),
      ['a 11'],
    )
  })
})
