import assert from 'node:assert/strict'
import { parseDropCounters } from '../../../src/host/network/drop-counters.ts'
import { parsePeerCounters } from '../../../src/host/network/peer-counters.ts'

describe('the counters of nftables', () => {
  it('are not read from an output that is no list of objects', () => {
    for (const text of ['', 'Error: syntax error', 'null', '{"nftables": 1}', '{"nftables": [null]}']) {
      assert.throws(() => parsePeerCounters(text), { name: 'NftError' })
      assert.throws(() => parseDropCounters(text, 'roost'), { name: 'NftError' })
    }
    assert.equal(parsePeerCounters('{"nftables": []}').size, 0)
  })
})
