import { strict as assert } from 'node:assert'
import { Slots } from '../../../src/host/vmm/slots.ts'

describe('slots', () => {
  it('pass on the place of work that takes longer than it counts, and not a second time at its end', async () => {
    const slots = new Slots(1, 5)
    const stuck = Promise.withResolvers<void>()
    const second = Promise.withResolvers<void>()
    const begun: number[] = []
    const work = (number: number, ends: Promise<void>) => async (): Promise<void> => {
      begun.push(number)
      await ends
    }
    const first = slots.run(work(1, stuck.promise))
    const next = slots.run(work(2, second.promise))
    const third = slots.run(work(3, Promise.resolve()))
    assert.deepEqual(begun, [1])
    await new Promise((resolve) => setTimeout(resolve, 1))
    while (begun.length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
    assert.deepEqual(begun.slice(0, 2), [1, 2])
    stuck.resolve()
    second.resolve()
    await Promise.all([first, next, third])
    assert.deepEqual(begun, [1, 2, 3])
  })
})
