import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { putOffOrder } from '../../../src/domain/certificate/order-pace.ts'
import type {
  MadeOrder,
  OrderPace,
  OrdersAhead,
  WantedOrder,
} from '../../../src/domain/certificate/order-pace.ts'

const hourMs = 3_600_000
const pace: OrderPace = { orders: 8, windowMs: 3 * hourMs, nameOrders: 3 }
const none: OrdersAhead = { ofUser: 0, ofAll: 0 }
const nowMs = 1_000 * hourMs

const wanted = (userUuid: string, more: Partial<WantedOrder> = {}): WantedOrder => {
  return { userUuid, fqdn: 'new.example.test', isRenewal: false, ...more }
}
/** Orders that were made the given numbers of minutes ago, each for another name. */
const made = (userUuid: string, minutesAgo: readonly number[], more: Partial<MadeOrder> = {}): MadeOrder[] =>
  minutesAgo.map((minutes, index) => {
    const fqdn = `${userUuid}-${index}.example.test`
    return { userUuid, fqdn, isRenewal: false, atMs: nowMs - minutes * 60_000, ...more }
  })
const ask = (order: WantedOrder, before: readonly MadeOrder[], ahead = none, users = 9) =>
  putOffOrder(pace, order, {
    made: before.toSorted((one, other) => one.atMs - other.atMs),
    ahead,
    users,
    nowMs,
  })
const inMinutes = (minutes: number) => nowMs + minutes * 60_000

describe('orders for certificates', () => {
  it('of one user are at most a quarter of what the authority takes, until the oldest is out of the window', () => {
    const before = made('ann', [170, 20])
    const putOff = ask(wanted('ann'), before)
    assert.equal(putOff?.retryAtMs, inMinutes(10))
    assert.match(putOff.reason, /^2 certificates were ordered for this account within 3 h/)
    assert.equal(ask(wanted('bob'), before), undefined)
    assert.equal(ask(wanted('ann'), made('ann', [180, 20])), undefined)
  })

  it('of one user are more if there are fewer users, and still leave a share to renewals', () => {
    const many = (count: number) =>
      made(
        'ann',
        Array.from({ length: count }, (_, index) => 60 - index),
      )
    const left = (users: number) =>
      [0, 1, 2, 3, 4, 5, 6, 7, 8].filter(
        (count) => ask(wanted('ann'), many(count), none, users) === undefined,
      ).length
    assert.deepEqual([1, 2, 3, 4, 100].map(left), [6, 4, 2, 2, 2])
    assert.equal(ask(wanted('ann', { isRenewal: true }), many(6), none, 1), undefined)
  })

  it('for renewals are not held back by those for new certificates', () => {
    const before = [...made('ann', [30, 20]), ...made('bob', [30, 20]), ...made('eve', [30, 20])]
    assert.equal(ask(wanted('dan'), before)?.retryAtMs, inMinutes(150), 'new ones leave a quarter')
    assert.equal(ask(wanted('ann', { isRenewal: true }), before), undefined)
    assert.equal(ask(wanted('dan', { isRenewal: true }), before), undefined)
  })

  it('for renewals of one user are a quarter as well, and end where the authority takes no more', () => {
    const renewed = made('ann', [30, 20], { isRenewal: true })
    assert.match(ask(wanted('ann', { isRenewal: true }), renewed)?.reason ?? '', /this account/)
    assert.equal(ask(wanted('ann'), renewed), undefined, 'new ones have their own quarter')
    const all = [...renewed, ...made('bob', [30, 20]), ...made('eve', [30, 20]), ...made('dan', [40, 20])]
    const putOff = ask(wanted('bob', { isRenewal: true }), all)
    assert.match(putOff?.reason ?? '', /as the authority takes from this platform/)
    assert.equal(putOff?.retryAtMs, inMinutes(140))
  })

  it('for one name have a bound of their own, whoever asks', () => {
    const fqdn = 'bad.example.test'
    const before = [...made('ann', [50, 40], { fqdn }), ...made('bob', [30], { fqdn })]
    const putOff = ask(wanted('eve', { fqdn }), before)
    assert.match(putOff?.reason ?? '', /^3 certificates were ordered for bad\.example\.test within 1 h/)
    assert.equal(putOff?.retryAtMs, inMinutes(10))
    assert.equal(ask(wanted('eve'), before), undefined)
  })

  it('that wait are tried again one after the other, the one that has waited longest first', () => {
    const before = made('ann', [170, 20])
    const returns = [0, 1, 2, 3, 4].map((ofUser) => {
      return ask(wanted('ann'), before, { ofUser, ofAll: ofUser })?.retryAtMs
    })
    assert.deepEqual(returns, [10, 160, 190, 340, 370].map(inMinutes))
  })

  it('wait for the last of several reasons, and only for some while', () => {
    const before = [
      ...made('ann', [100, 90], { fqdn: 'x.test' }),
      ...made('bob', [10, 9, 8], { fqdn: 'new.example.test' }),
    ]
    assert.equal(ask(wanted('ann'), before)?.retryAtMs, inMinutes(80))
  })

  it('never exceed a bound in any window, however they come', () => {
    const order = fc.record({
      userUuid: fc.constantFrom('ann', 'bob', 'eve', 'dan', 'joe'),
      fqdn: fc.constantFrom('a.test', 'b.test', 'c.test', 'd.test'),
      isRenewal: fc.boolean(),
      afterMs: fc.integer({ min: 0, max: hourMs }),
    })
    fc.assert(
      fc.property(fc.array(order, { maxLength: 120 }), (orders) => {
        const done: MadeOrder[] = []
        let atMs = 0
        for (const { afterMs, ...one } of orders) {
          atMs += afterMs
          const putOff = putOffOrder(pace, one, { made: done, ahead: none, users: 5, nowMs: atMs })
          if (putOff === undefined) done.push({ ...one, atMs })
          else assert.ok(putOff.retryAtMs > atMs)
        }
        for (const { atMs: endMs } of done) {
          const within = done.filter((each) => each.atMs <= endMs && each.atMs > endMs - pace.windowMs)
          const fresh = within.filter(({ isRenewal }) => !isRenewal)
          assert.ok(within.length <= 8 && fresh.length <= 6)
          for (const user of ['ann', 'bob', 'eve', 'dan', 'joe'])
            assert.ok(fresh.filter(({ userUuid }) => userUuid === user).length <= 2)
        }
      }),
    )
  })
})
