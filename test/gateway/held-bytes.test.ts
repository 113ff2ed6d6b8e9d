import assert from 'node:assert/strict'
import { holdersOverBudget } from '../../src/gateway/clients/held-bytes.ts'
import type { HeldBudgets } from '../../src/gateway/clients/held-bytes.ts'
import { networksOf } from '../../src/gateway/clients/source.ts'

const plenty = 1_000_000

describe('the connections that are ended because of held bytes', () => {
  const over = (
    holders: readonly (readonly [string, number])[],
    { perSourceBytes = plenty, allBytes = plenty }: Partial<HeldBudgets>,
  ) =>
    holdersOverBudget(
      holders.map(([address, bytes]) => ({ networks: networksOf(address), address, bytes })),
      { perSourceBytes, allBytes },
    ).map(({ address, bytes }) => `${address} ${bytes}`)

  it('are none while each source, and all together, are within their budgets', () => {
    assert.deepEqual(over([], { perSourceBytes: 10, allBytes: 30 }), [])
    const holders = [
      ['1.0.0.1', 6],
      ['1.0.0.1', 4],
      ['1.0.0.2', 10],
      ['1.0.0.3', 10],
    ] as const
    assert.deepEqual(over(holders, { perSourceBytes: 10, allBytes: 30 }), [])
  })

  it('are those of a source over its budget that hold most, and no more of them than necessary', () => {
    const holders = [
      ['1.0.0.1', 1],
      ['1.0.0.1', 8],
      ['1.0.0.2', 9],
      ['1.0.0.1', 5],
      ['1.0.0.1', 7],
    ] as const
    assert.deepEqual(over(holders, { perSourceBytes: 10 }), ['1.0.0.1 8', '1.0.0.1 7'])
  })

  it('may be a single connection that holds more than the budget', () => {
    const holders = [
      ['1.0.0.1', 11],
      ['1.0.0.1', 10],
    ] as const
    assert.deepEqual(over(holders, { perSourceBytes: 10 }), ['1.0.0.1 11'])
  })

  it('are those of a wide network over its multiple of the budget, although each of its sources is within the budget', () => {
    const of56 = Array.from({ length: 6 }, (_, index) => [`2001:db8:0:${index}::1`, 10 - index] as const)
    assert.deepEqual(over([...of56, ['2001:db8:0:100::1', 10]], { perSourceBytes: 10 }), [
      '2001:db8:0:0::1 10',
    ])
    const of48 = Array.from({ length: 17 }, (_, index) => [`2001:db8:0:${index}00::1`, 10] as const)
    assert.deepEqual(over([...of48, ['2001:db8:1::1', 10]], { perSourceBytes: 10 }), ['2001:db8:0:000::1 10'])
  })

  it('are taken, for the budget of all, from the network that holds most at that moment', () => {
    const holders = [
      ['1.0.0.1', 9],
      ['1.0.0.2', 6],
      ['1.0.0.2', 7],
      ['1.0.0.3', 5],
    ] as const
    assert.deepEqual(over(holders, { allBytes: 27 }), [])
    assert.deepEqual(over(holders, { allBytes: 20 }), ['1.0.0.2 7'])
    assert.deepEqual(over(holders, { allBytes: 19 }), ['1.0.0.2 7', '1.0.0.1 9'])
  })
})
