import { strict as assert } from 'node:assert'
import type { PlacementReason } from '../../../src/domain/host/placement.ts'
import { placementWords } from '../../../src/domain/host/placement-words.ts'

const room = { promisedMemoryMb: 896, memoryMb: 4_096, promisedVcpus: 5, cpus: 2 }

describe('the words for a placement', () => {
  const words = (reason?: PlacementReason, hasVolume = false) =>
    placementWords({ nodeId: 'h2', hasVolume, ...(reason && { reason }) })

  it('say why the host was chosen and among how many, without figures that tell of other users', () => {
    assert.equal(
      words({ kind: 'room', hosts: 3, room }),
      'it is on host h2, which of 3 hosts had most room when it was made',
    )
    assert.equal(
      words({ kind: 'spread', hosts: 3, alike: 1, room }),
      'it is on host h2, which of 3 hosts had fewest instances of the same service or request when it was made (1)',
    )
  })

  it('say that there was no choice, and why', () => {
    assert.equal(
      words({ kind: 'only' }),
      'it is on host h2, the only one that took new instances when it was made',
    )
    assert.match(
      words({ kind: 'fits', hosts: 3 }) ?? '',
      /^it is on host h2, the only one of 3 hosts that had room/,
    )
    assert.match(words({ kind: 'heard', hosts: 2 }) ?? '', /the only one of 2 hosts with room that was heard/)
  })

  it('name the volume that decided, which may be gone since', () => {
    const reason = { kind: 'volume', volume: 'db' } as const
    assert.equal(words(reason, true), 'it is on host h2, because its volume db is there')
    assert.equal(words(reason), 'it is on host h2, because its volume db was there')
  })

  it('say nothing of an instance of which nothing is known', () => {
    assert.equal(words(), undefined)
  })
})
