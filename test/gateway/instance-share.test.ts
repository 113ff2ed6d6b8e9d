import assert from 'node:assert/strict'
import type { ShareChange } from '../../src/domain/standby/lease-protocol.ts'
import { InstanceShare } from '../../src/gateway/balance/instance-share.ts'

describe('the share of a gateway', () => {
  let nowMs: number
  let inFlight: number
  let isConnected: boolean
  let asked: ShareChange[]
  let gave: number[]
  let share: InstanceShare

  beforeEach(() => {
    nowMs = 0
    inFlight = 0
    isConnected = true
    asked = []
    gave = []
    share = new InstanceShare({
      nowMs: () => nowMs,
      inFlight: () => inFlight,
      give: ({ count }) => gave.push(count),
      ask: (want) => {
        if (isConnected) asked.push(want)
        return isConnected
      },
    })
  })

  it('is the whole hard limit if the host gives none, as hosts of older versions do', () => {
    share.opened({ memoryBoot: 1 })
    assert.equal(share.limit(10), 10)
    assert.equal(share.want(1, 10), false)
    assert.equal(share.held, undefined)
  })

  it('has its part of the soft limit, and at least one', () => {
    share.opened({ memoryBoot: 1, share: 10 })
    assert.equal(share.softLimit(4, 10), 4)
    share.spare({ memoryBoot: 1, count: 1 })
    assert.equal(share.limit(10), 5)
    assert.equal(share.softLimit(4, 10), 2)
    assert.equal(share.softLimit(1, 10), 1)
  })

  it('is asked for once at a time, and not again for a moment after the host had nothing', () => {
    share.opened({ memoryBoot: 1, share: 0 })
    assert.equal(share.want(3, 10), true)
    assert.equal(share.want(5, 10), true)
    assert.deepEqual(asked, [{ memoryBoot: 1, count: 3, limit: 10 }])
    share.answered({ memoryBoot: 1, count: 0 })
    assert.equal(share.want(1, 10), false)
    nowMs += 20
    assert.equal(share.want(1, 10), true)
  })

  it('is not waited for while there is no connection to the host', () => {
    share.opened({ memoryBoot: 1, share: 0 })
    isConnected = false
    assert.equal(share.want(1, 10), false)
  })

  it('gives only what is not in flight, and answers also if that is nothing', () => {
    share.opened({ memoryBoot: 1, share: 4 })
    inFlight = 3
    assert.deepEqual(share.spare({ memoryBoot: 1, count: 4 }), { memoryBoot: 1, count: 1 })
    assert.deepEqual(share.spare({ memoryBoot: 1, count: 4 }), { memoryBoot: 1, count: 0 })
    assert.equal(share.limit(10), 3)
  })

  it('follows a lower hard limit at once, and gives the rest back when it asks for more', () => {
    share.opened({ memoryBoot: 1, share: 10 })
    assert.equal(share.limit(20), 10)
    inFlight = 8
    assert.equal(share.limit(4), 2)
    inFlight = 2
    assert.equal(share.want(1, 4), true)
    assert.deepEqual(gave, [8])
    assert.deepEqual(share.held, { memoryBoot: 1, count: 2, limit: 4 })
  })

  it('lets in nothing more once its host was silent, because others may have it', () => {
    share.opened({ memoryBoot: 1, share: 5 })
    assert.equal(share.limit(5), 5)
    inFlight = 2
    share.hostSilent()
    assert.deepEqual(gave, [3])
    assert.equal(share.limit(5), 0)
    inFlight = 1
    assert.equal(share.want(1, 5), true)
    assert.deepEqual(gave, [3, 1])
    share.answered({ memoryBoot: 1, count: 2 })
    assert.equal(share.limit(5), 2)
  })

  it('ends with its memory, and a change of an earlier memory does nothing', () => {
    share.opened({ memoryBoot: 1, share: 5 })
    share.gone(2)
    assert.equal(share.held, undefined)
    share.opened({ memoryBoot: 3, share: 5 })
    share.answered({ memoryBoot: 1, count: 9 })
    assert.deepEqual(share.spare({ memoryBoot: 1, count: 9 }), { memoryBoot: 1, count: 0 })
    assert.equal(share.limit(50), 5)
  })
})
