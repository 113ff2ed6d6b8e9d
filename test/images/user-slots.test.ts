import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { createUserSlots } from '../../src/host/images/user-slots.ts'
import type { UserSlots, Slot } from '../../src/host/images/user-slots.ts'

/** Slots, with the users who got them, in that order. `done` gives back the oldest slot of a user. */
class Slots {
  readonly order: string[] = []
  readonly #slots: UserSlots
  readonly #held: Slot[] = []

  constructor(count: number) {
    this.#slots = createUserSlots(count)
  }

  ask(users: string | Set<string>, signal = new AbortController().signal): void {
    const asking = typeof users === 'string' ? new Set([users]) : users
    this.#slots.take(asking, signal).then(
      (slot) => {
        this.order.push(slot.user)
        this.#held.push(slot)
      },
      () => undefined,
    )
  }

  async done(user: string): Promise<void> {
    await turn()
    const at = this.#held.findIndex((slot) => slot.user === user)
    assert.ok(at >= 0, `${user} holds no slot`)
    this.#held.splice(at, 1)[0]?.release()
    await turn()
  }

  review(): void {
    this.#slots.review()
  }
}

describe('slots for the making of images', () => {
  it('are given in the order of asking while there are enough', async () => {
    const slots = new Slots(3)
    for (const user of ['ann', 'bob', 'cid']) slots.ask(user)
    await turn()
    assert.deepEqual(slots.order, ['ann', 'bob', 'cid'])
  })

  it('the last slot stays free for users who hold none, however much another user asks for', async () => {
    const slots = new Slots(3)
    for (let asked = 0; asked < 5; asked++) slots.ask('ann')
    await turn()
    assert.deepEqual(slots.order, ['ann', 'ann'])
    slots.ask('bob')
    await turn()
    assert.deepEqual(slots.order, ['ann', 'ann', 'bob'])
  })

  it('the next slot goes to the waiting user who holds fewest, not to the one who asked first', async () => {
    const slots = new Slots(3)
    for (let asked = 0; asked < 4; asked++) slots.ask('ann')
    for (const user of ['bob', 'bob', 'cid']) slots.ask(user)
    await slots.done('ann')
    assert.deepEqual(slots.order, ['ann', 'ann', 'bob', 'cid'])
    await slots.done('cid')
    // Ann and bob hold one slot each, so neither may have the last one.
    assert.deepEqual(slots.order, ['ann', 'ann', 'bob', 'cid'])
    await slots.done('bob')
    assert.deepEqual(slots.order, ['ann', 'ann', 'bob', 'cid', 'bob'])
  })

  it('users who hold equally many take turns', async () => {
    const slots = new Slots(1)
    for (const user of ['ann', 'ann', 'ann', 'bob', 'bob', 'cid']) slots.ask(user)
    for (const user of ['ann', 'bob', 'cid', 'ann', 'bob', 'ann']) await slots.done(user)
    assert.deepEqual(slots.order, ['ann', 'bob', 'cid', 'ann', 'bob', 'ann'])
  })

  it('an image that several users ask for gets a slot as soon as one of them may have one', async () => {
    const slots = new Slots(3)
    for (const user of ['ann', 'ann']) slots.ask(user)
    const shared = new Set(['ann'])
    slots.ask(shared)
    await turn()
    assert.deepEqual(slots.order, ['ann', 'ann'])
    shared.add('bob')
    slots.review()
    await turn()
    assert.deepEqual(slots.order, ['ann', 'ann', 'bob'])
  })

  it('a user who gives up while waiting is passed over', async () => {
    const slots = new Slots(1)
    const gone = new AbortController()
    slots.ask('ann')
    slots.ask('bob', gone.signal)
    slots.ask('cid')
    gone.abort()
    await slots.done('ann')
    assert.deepEqual(slots.order, ['ann', 'cid'])
  })
})
