import { strict as assert } from 'node:assert'
import { QueueShares } from '../../../src/gateway/balance/queue-shares.ts'

function fill(shares: QueueShares, user: string): number {
  let count = 0
  while (shares.take(user)) count += 1
  return count
}

describe('the shares of the queue for instances', () => {
  it('leave room for a user who comes now, however many the others have waiting', () => {
    const shares = new QueueShares(1_000)
    assert.equal(fill(shares, 'a'), 500)
    assert.equal(fill(shares, 'b'), 250)
    assert.equal(fill(shares, 'c'), 125)
    for (let user = 0; user < 100; user++) assert(shares.take(`user ${user}`))
    assert.equal(shares.all, 975)
  })

  it('are given back one by one, and never are more than there is', () => {
    const shares = new QueueShares(2)
    assert(shares.take('a'))
    assert(!shares.take('a'))
    assert(shares.take('b'))
    assert(!shares.take('c'))
    shares.leave('a')
    assert(!shares.take('b'))
    assert(shares.take('c'))
    assert.equal(shares.all, 2)
  })
})
