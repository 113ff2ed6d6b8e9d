import assert from 'node:assert/strict'
import { Ledger } from '../../chaos/ledger.ts'
import { readCounted } from '../../chaos/ledger-guest.ts'

const [first, second] = ['6d0e6c1c-5a43-4a0b-9b57-0d3d2d1c7a01', '6d0e6c1c-5a43-4a0b-9b57-0d3d2d1c7a02']

function counting(isKept: boolean, ...answers: readonly (readonly [string, number])[]): readonly string[] {
  const ledger = new Ledger('plain', isKept)
  for (const [boot, number] of answers) ledger.count({ instance: 'plain', boot, number })
  return ledger.broken
}

describe('a ledger', () => {
  it('takes numbers that grow, with gaps, and a boot that begins anew', () => {
    assert.deepEqual(counting(false, [first, 1], [first, 2], [first, 5], [second, 1], [second, 2]), [])
  })

  it('misses a number that came before, because a memory is an old one', () => {
    assert.match(counting(false, [first, 1], [first, 7], [first, 7]).join(), /counted 7 after 7/)
    assert.match(counting(false, [first, 7], [first, 3]).join(), /counted 3 after 7/)
  })

  it('of a volume goes on with each boot', () => {
    assert.deepEqual(counting(true, [first, 1], [second, 2]), [])
    assert.match(counting(true, [first, 5], [second, 1]).join(), /counted 1 after 5/)
  })

  it('misses a boot that answers after a later one', () => {
    assert.match(counting(false, [first, 1], [second, 1], [first, 2]).join(), /answered after boot/)
  })

  it('misses the answer of another instance', () => {
    const ledger = new Ledger('plain', false)
    ledger.count({ instance: 'warm', boot: first, number: 1 })
    assert.match(ledger.broken.join(), /'warm' answered in its place/)
  })

  it('misses a file that is another one, or is gone', () => {
    const ledger = new Ledger('disk', true)
    ledger.keep('file-1', 'aa')
    ledger.verifyFile('file-1', 'aa')
    assert.deepEqual(ledger.broken, [])
    ledger.verifyFile('file-1', 'none')
    assert.match(ledger.broken.join(), /promised was aa/)
  })

  it('reads the answers of its application and no others', () => {
    assert.deepEqual(readCounted(`disk ${first} 12\n`), { instance: 'disk', boot: first, number: 12 })
    assert.equal(readCounted('<h1>503</h1>'), undefined)
    assert.equal(readCounted(`disk ${first} `), undefined)
  })
})
