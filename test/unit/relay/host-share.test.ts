import assert from 'node:assert/strict'
import { GrpcCode } from '../../../src/relay/grpc-status.ts'
import { HostShare } from '../../../src/relay/host-share.ts'

const secondMs = 1_000

/** Begins and ends as many calls as the share allows at one moment, up to 10,000. */
function callsAt(share: HostShare, nowMs: number): number {
  for (let count = 0; count < 10_000; count++) {
    const refusal = share.begin(nowMs)
    if (refusal === undefined) share.end(0)
    else {
      assert.equal(refusal.code, GrpcCode.ResourceExhausted)
      return count
    }
  }
  return 10_000
}

describe('the share of a host', () => {
  it('has 1,500 calls in a burst, and 300 in each second after it', () => {
    const share = new HostShare()
    assert.equal(callsAt(share, 0), 1_500)
    assert.equal(callsAt(share, secondMs), 300)
    assert.equal(callsAt(share, secondMs), 0)
    assert.equal(callsAt(share, 3 * secondMs), 600)
    assert.equal(callsAt(share, 100 * secondMs), 1_500)
  })

  it('has 1,024 calls at once, and is idle once the last one has ended', () => {
    const share = new HostShare()
    for (let count = 0; count < 1_024; count++) assert.equal(share.begin(0), undefined)
    assert.match(String(share.begin(0)?.message), /^A host may have 1024 calls at once/)
    share.end(0)
    assert.equal(share.begin(0), undefined)
    for (let count = 0; count < 1_024; count++) {
      assert.ok(!share.isIdle)
      share.end(0)
    }
    assert.ok(share.isIdle)
  })

  it('has 16 calls that wait for work', () => {
    const share = new HostShare()
    for (let count = 0; count < 16; count++) assert.equal(share.beginWait(), undefined)
    assert.equal(share.beginWait()?.code, GrpcCode.ResourceExhausted)
    share.endWait()
    assert.equal(share.beginWait(), undefined)
  })

  it('has 32 MiB for messages, and gets back what a call had', () => {
    const share = new HostShare()
    const largest = 4 * 1024 * 1024
    for (let count = 0; count < 8; count++) {
      share.begin(0)
      assert.ok(share.reserve(largest))
    }
    assert.ok(!share.reserve(1))
    share.end(largest)
    assert.ok(share.reserve(largest))
  })
})
