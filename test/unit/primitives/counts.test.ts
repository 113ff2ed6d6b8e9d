import assert from 'node:assert/strict'
import { Counts } from '../../../src/primitives/counts.ts'

describe('counts by key', () => {
  it('are those of each key and of all', () => {
    const counts = new Counts()
    for (const key of ['a', 'b', 'a']) counts.add(key)
    assert.deepEqual([counts.of('a'), counts.of('b'), counts.of('c'), counts.all], [2, 1, 0, 3])
    counts.remove('a')
    assert.deepEqual([counts.of('a'), counts.all], [1, 2])
    counts.remove('a')
    counts.remove('b')
    assert.deepEqual([counts.of('a'), counts.of('b'), counts.all], [0, 0, 0])
  })
})
