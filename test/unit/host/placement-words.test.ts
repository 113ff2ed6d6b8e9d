import { strict as assert } from 'node:assert'
import type { PlacementReason } from '../../../src/domain/host/placement.ts'
import { placementWords } from '../../../src/domain/host/placement-words.ts'

const room = { promisedMemoryMb: 896, memoryMb: 4_096, promisedVcpus: 5, cpus: 2 }

describe('the words for a placement', () => {
  const words = (reason?: PlacementReason, hasVolume = false) =>
    placementWords({ nodeId: 'h2', hasVolume, ...(reason && { reason }) })

  it('say what the host had most of when it was chosen, and among how many', () => {
    assert.equal(
      words({ kind: 'room', hosts: 3, room }),
      'it is on host h2, which had most room when it was made (of 3 hosts; 896 of 4096 MiB of memory and 5 vCPUs on 2 processors were promised there before)',
    )
    const small = { promisedMemoryMb: 0, memoryMb: 512, promisedVcpus: 1, cpus: 1 }
    assert.match(words({ kind: 'room', hosts: 2, room: small }) ?? '', / 1 vCPU on 1 processor were /)
    const { cpus: _none, ...older } = room
    assert.match(
      words({ kind: 'room', hosts: 2, room: older }) ?? '',
      /896 of 4096 MiB of memory were promised there before\)$/,
    )
  })

  it('say that instances were spread', () => {
    assert.equal(
      words({ kind: 'spread', hosts: 3, alike: 1, room }),
      'it is on host h2, which had fewest instances of the same service or request (1) when it was made (of 3 hosts; 896 of 4096 MiB of memory and 5 vCPUs on 2 processors were promised there before)',
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
