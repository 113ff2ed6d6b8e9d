import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { planLanes, runInLanes } from '../../runner/lanes.ts'

const gib = 1024 ** 3
const large = { processors: 2, memoryBytes: 24 * gib, namespaces: true }

describe('lanes', () => {
  it('are two for groups that use a processor, where there are two', () => {
    assert.equal(planLanes(large).busy, 2)
    assert.equal(planLanes({ ...large, processors: 1 }).busy, 1)
    assert.equal(planLanes({ ...large, processors: 64 }).busy, 2)
  })

  it('for groups that wait are one for each processor and three at most, as far as the memory holds them', () => {
    assert.equal(planLanes(large).waiting, 2)
    assert.equal(planLanes({ ...large, processors: 64 }).waiting, 3)
    assert.equal(planLanes({ ...large, processors: 64, memoryBytes: 9 * gib }).waiting, 2)
    assert.equal(planLanes({ ...large, memoryBytes: gib }).waiting, 1)
  })

  it('for groups that wait are one where they would meet, or find one processor', () => {
    assert.equal(planLanes({ ...large, namespaces: false }).waiting, 1)
    assert.equal(planLanes({ ...large, processors: 1 }).waiting, 1)
  })

  it('for groups whose own VMs keep all processors busy are one', () => {
    assert.equal(planLanes({ ...large, processors: 64 }).alone, 1)
  })

  it('take the next group as soon as one is free', async () => {
    const begun: string[] = []
    const ends = new Map<string, () => void>()
    const all = runInLanes(['long', 'short', 'last'], {
      lanes: 2,
      runOne: (group) => {
        begun.push(group)
        return new Promise((resolve) => ends.set(group, resolve))
      },
    })
    assert.deepEqual(begun, ['long', 'short'])
    ends.get('short')?.()
    await turn()
    assert.deepEqual(begun, ['long', 'short', 'last'])
    ends.get('last')?.()
    ends.get('long')?.()
    await all
  })
})
