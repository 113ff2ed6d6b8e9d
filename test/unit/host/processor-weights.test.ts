import { strict as assert } from 'node:assert'
import { meanBusy, processorWeights } from '../../../src/domain/host/processor-weights.ts'

describe('the processor weight of each user of a host', () => {
  const weights = (busy: Readonly<Record<string, number>>, processors = 2) =>
    Object.fromEntries(processorWeights(new Map(Object.entries(busy)), processors))

  it('is 1 for each user who uses no more than an equal part', () => {
    assert.deepEqual(weights({ ann: 1, bob: 1 }), { ann: 1, bob: 1 })
    assert.deepEqual(weights({ ann: 0.5, bob: 0.9, eve: 0 }), { ann: 1, bob: 1, eve: 1 })
    assert.deepEqual(weights({ ann: 16 / 3, bob: 16 / 3, eve: 16 / 3 }, 16), { ann: 1, bob: 1, eve: 1 })
  })

  it('is down to an eighth for users who took what others left over', () => {
    assert.deepEqual(weights({ ann: 2, bob: 0 }), { ann: 1 / 8, bob: 1 })
    assert.deepEqual(weights({ ann: 8, bob: 0.1, eve: 0.1 }, 8), { ann: 1 / 8, bob: 1, eve: 1 })
    const { ann } = weights({ ann: 1.2, bob: 0.5 })
    assert.ok(ann !== undefined && ann > 0.5 && ann < 0.6)
  })

  /** Divides two processors as the kernel does: by weight, and no user gets more than it wants. */
  function share(
    wants: Readonly<Record<string, number>>,
    weight: Readonly<Record<string, number>>,
  ): Record<string, number> {
    const given: Record<string, number> = {}
    let left = 2
    let hungry = Object.keys(wants)
    while (hungry.length > 0) {
      const sum = hungry.reduce((total, user) => total + (weight[user] ?? 1), 0)
      const part = (user: string): number => (left * (weight[user] ?? 1)) / sum
      const content = hungry.filter((user) => (wants[user] ?? 0) <= part(user))
      const done = content.length > 0 ? content : hungry
      const gets = done.map((user) => [user, content.length > 0 ? (wants[user] ?? 0) : part(user)] as const)
      for (const [user, amount] of gets) given[user] = amount
      left -= gets.reduce((total, [, amount]) => total + amount, 0)
      hungry = hungry.filter((user) => !done.includes(user))
    }
    return given
  }

  it('leads to equal parts if all users want everything, whatever each had before', () => {
    let mean: Record<string, number> = { ann: 2, bob: 0, eve: 0.3 }
    let given: Record<string, number> = {}
    for (let look = 0; look < 30; look++) {
      given = share({ ann: 2, bob: 2, eve: 2 }, weights(mean))
      const latest = given
      mean = Object.fromEntries(
        Object.entries(mean).map(([user, one]) => [user, meanBusy(one, latest[user] ?? 0)]),
      )
    }
    for (const amount of Object.values(given))
      assert.ok(Math.abs(amount - 2 / 3) < 0.01, JSON.stringify(given))
  })

  it('gives a user who had little a whole processor at once, beside a user who takes all there is', () => {
    const { bob = 0 } = share({ ann: 2, bob: 1 }, weights({ ann: 2, bob: 0.1 }))
    assert.equal(bob, 1)
  })
})
