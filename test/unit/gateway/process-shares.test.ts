import assert from 'node:assert/strict'
import fc from 'fast-check'
import { defaultBalanceLimits } from '../../../src/gateway/balance/balance-limits.ts'
import { clientShare, queueShare } from '../../../src/gateway/processes/process-shares.ts'

const room = {
  processes: 3,
  connectionsPerSource: 1_000,
  connections: undefined,
  heldBytes: 1_200 << 20,
  openFilesPerProcess: 1 << 20,
}

describe('the shares of the serving processes', () => {
  it('are rounded up', () => {
    assert.deepEqual(clientShare(room), {
      connectionsPerSource: 334,
      connections: 16_667,
      heldBytes: 400 << 20,
      heldBytesPerSource: 100 << 20,
    })
    assert.deepEqual(queueShare(3), { maxQueued: 16_667, maxQueuedPerService: 3_334 })
  })

  it('of connections are bounded by the files of a process, unless the setting says a number', () => {
    assert.equal(clientShare({ ...room, openFilesPerProcess: 4_096 }).connections, 1_536)
    assert.equal(
      clientShare({ ...room, openFilesPerProcess: 4_096, connections: 90_000 }).connections,
      30_000,
    )
  })

  it('are the whole for one process, and together never much more than the whole', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: 10_000 }), (processes, most) => {
        const { connectionsPerSource = 0 } = clientShare({ ...room, processes, connectionsPerSource: most })
        assert.ok(connectionsPerSource >= 1)
        assert.ok(connectionsPerSource * processes >= most)
        assert.ok(connectionsPerSource * processes < most + processes)
      }),
    )
    const { maxQueued, maxQueuedPerService } = defaultBalanceLimits
    assert.deepEqual(queueShare(1), { maxQueued, maxQueuedPerService })
  })
})
