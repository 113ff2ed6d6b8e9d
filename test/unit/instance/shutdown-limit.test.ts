import assert from 'node:assert/strict'
import { shutdownLimitMs } from '../../../src/host/instance/shutdown-limit.ts'
import { volumeWriteBackMs } from '../../../src/host/vmm/vmm.ts'

describe('the time limit of a shutdown', () => {
  const graceMs = 10_000
  const uuid = '00000000-0000-4000-8000-000000000001'

  it('is the grace of the instance and some slack', () => {
    const limitMs = shutdownLimitMs({}, graceMs)
    assert(limitMs > graceMs && limitMs < graceMs + volumeWriteBackMs)
  })

  it('is longer for a guest with a writable volume, which has to write back what it holds in memory', () => {
    const without = shutdownLimitMs({}, graceMs)
    const writable = { volume: { uuid, readonly: false } }
    assert.equal(shutdownLimitMs(writable, graceMs), without + volumeWriteBackMs)
    assert.equal(shutdownLimitMs({ volume: { uuid, readonly: true } }, graceMs), without)
  })
})
