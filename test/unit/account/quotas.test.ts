import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import {
  defaultHardQuotas,
  defaultQuotaLimits,
  findDeletedExcess,
  findLimitBreach,
  findQuotaExcess,
  liveDemand,
} from '../../../src/domain/account/quotas.ts'
import type { QuotaAmounts } from '../../../src/domain/account/quotas.ts'
import type { ScaleToZeroPolicy } from '../../../src/domain/standby/scale-to-zero.ts'

const quotaNames = Object.keys(defaultHardQuotas) as (keyof QuotaAmounts)[]
const amounts = fc.record(
  Object.fromEntries(quotaNames.map((name) => [name, fc.nat(100)])) as Record<
    keyof QuotaAmounts,
    fc.Arbitrary<number>
  >,
)

describe('quotas', () => {
  it('admit exactly what fits below every bound that it adds to', () => {
    fc.assert(
      fc.property(amounts, amounts, amounts, (used, hard, added) => {
        const excess = findQuotaExcess({ used, hard }, added)
        const fits = quotaNames.every((name) => added[name] === 0 || used[name] + added[name] <= hard[name])
        assert.equal(excess === undefined, fits)
        if (excess) {
          assert.equal(excess.value, used[excess.quota] + added[excess.quota])
          assert.equal(excess.bound, hard[excess.quota])
          assert.ok(excess.value > excess.bound)
        }
      }),
    )
  })

  it('that were lowered below the present use refuse only requests that add to that use', () => {
    const used = { ...defaultHardQuotas, instances: 65 }
    assert.equal(findQuotaExcess({ used, hard: defaultHardQuotas }, {}), undefined)
    const excess = findQuotaExcess({ used, hard: defaultHardQuotas }, { instances: 1 })
    assert.deepEqual(excess, { quota: 'instances', value: 66, bound: 64 })
  })

  it('allow twice the amount when deleted objects that still exist are counted too, so that a user can replace everything once', () => {
    const full = defaultHardQuotas
    const none = Object.fromEntries(quotaNames.map((name) => [name, 0])) as unknown as QuotaAmounts
    assert.equal(findDeletedExcess({ used: none, hard: full }, full, full), undefined)
    assert.deepEqual(findDeletedExcess({ used: full, hard: full }, full, { volumes: 1 }), {
      quota: 'volumes',
      value: 2 * full.volumes + 1,
      bound: 2 * full.volumes,
    })
    assert.equal(findDeletedExcess({ used: full, hard: full }, full, {}), undefined)
  })

  it('of new accounts are never 0, because clients divide by them', () => {
    for (const name of quotaNames) assert.ok(defaultHardQuotas[name] > 0, name)
  })

  it('count every live instance with its memory and its virtual CPUs', () => {
    assert.deepEqual(liveDemand({ memoryMb: 128, vcpus: 2 }, 3), {
      liveInstances: 3,
      liveVcpus: 6,
      liveMemoryMb: 384,
    })
  })

  it('count the snapshot of a live instance from its start on if it keeps its memory in standby', () => {
    const snapshotMb = (policy: ScaleToZeroPolicy, stateful: boolean) =>
      liveDemand({ memoryMb: 128, vcpus: 1, scaleToZero: { policy, stateful, cooldownMs: 1 } }, 3).snapshotMb
    assert.equal(snapshotMb('on', true), 384)
    assert.equal(snapshotMb('idle', true), 384)
    assert.equal(snapshotMb('on', false), undefined)
    assert.equal(snapshotMb('off', true), undefined)
  })

  it('let an instance have the smallest and the largest size, and nothing beyond them', () => {
    const limits = { ...defaultQuotaLimits, minMemoryMb: 16, maxMemoryMb: 32, minVcpus: 2, maxVcpus: 4 }
    for (const memoryMb of [16, 32]) assert.equal(findLimitBreach(limits, { memoryMb, vcpus: 2 }), undefined)
    for (const memoryMb of [15, 33]) {
      const breach = { parameter: 'memory_mb', value: memoryMb, min: 16, max: 32 }
      assert.deepEqual(findLimitBreach(limits, { memoryMb, vcpus: 2 }), breach)
    }
    for (const vcpus of [2, 4]) assert.equal(findLimitBreach(limits, { memoryMb: 16, vcpus }), undefined)
    for (const vcpus of [1, 5]) {
      const breach = { parameter: 'vcpus', value: vcpus, min: 2, max: 4 }
      assert.deepEqual(findLimitBreach(limits, { memoryMb: 16, vcpus }), breach)
    }
  })
})
