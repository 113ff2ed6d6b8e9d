import assert from 'node:assert/strict'
import { diskReserveBytes } from '../../../src/domain/host/disk-reserve.ts'

const mebibyte = 1024 * 1024

describe('the reserve of a disk', () => {
  const reserveMb = (totalMb: number): number => diskReserveBytes(totalMb * mebibyte) / mebibyte

  it('is an eighth of a small disk in whole MiB, and 2 GiB of every disk from 16 GiB on', () => {
    assert.deepEqual([0, 7, 8, 15, 48, 64].map(reserveMb), [0, 0, 1, 1, 6, 8])
    assert.deepEqual([16_376, 16_384, 1_000_000].map(reserveMb), [2_047, 2_048, 2_048])
  })
})
