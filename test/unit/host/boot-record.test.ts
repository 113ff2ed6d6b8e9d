import assert from 'node:assert/strict'
import { BootRecord } from '../../support/boot-record.ts'

/** A record of answers that took 10 ms each. */
function recordOf(
  ...answers: readonly { boot: string; atMs: number; ageMs: number; host?: string }[]
): BootRecord {
  const record = new BootRecord()
  for (const { atMs, ...said } of answers)
    record.note({ instance: 'web', sentMs: atMs - 10, receivedMs: atMs, ...said })
  return record
}

describe('the record of boots that answered', () => {
  it('proves nothing if each boot begins after the last answer of the one before', () => {
    const record = recordOf(
      { boot: 'one', atMs: 1_000, ageMs: 500, host: 'h2' },
      { boot: 'two', atMs: 9_000, ageMs: 900, host: 'h3' },
      { boot: 'one', atMs: 8_000, ageMs: 7_500, host: 'h2' },
    )
    assert.deepEqual(record.proofsOfTwo('web'), [])
    const [one, two] = record.boots('web')
    assert.deepEqual([one?.boot, one?.firstMs, one?.lastMs, one?.answers], ['one', 1_000, 8_000, 2])
    assert.deepEqual([two?.boot, two?.begunMs], ['two', 8_100])
  })

  it('proves two VMs if an earlier boot answers once a later one has begun', () => {
    const record = recordOf(
      { boot: 'one', atMs: 1_000, ageMs: 500 },
      { boot: 'two', atMs: 9_000, ageMs: 900 },
      { boot: 'one', atMs: 8_200, ageMs: 7_700 },
    )
    assert.deepEqual(record.proofsOfTwo('web'), [
      'web: boot one answered 100 ms after boot two had begun, 10 ms after it was asked',
    ])
  })

  it('proves two VMs if an earlier boot comes back after a later one, whatever came between', () => {
    const record = recordOf(
      { boot: 'one', atMs: 1_000, ageMs: 500 },
      { boot: 'two', atMs: 3_000, ageMs: 100 },
      { boot: 'three', atMs: 5_000, ageMs: 100 },
      { boot: 'one', atMs: 6_000, ageMs: 600 },
    )
    assert.equal(record.proofsOfTwo('web').length, 2)
  })

  it('proves two VMs if one boot answers on two hosts', () => {
    const record = recordOf(
      { boot: 'one', atMs: 1_000, ageMs: 500, host: 'h2' },
      { boot: 'one', atMs: 1_100, ageMs: 600, host: 'h3' },
    )
    assert.deepEqual(record.proofsOfTwo('web'), ['web: boot one answered on h2 and h3'])
  })

  it('keeps instances apart', () => {
    const record = recordOf({ boot: 'one', atMs: 5_000, ageMs: 500 })
    record.note({ instance: 'other', boot: 'two', ageMs: 500, sentMs: 1_000, receivedMs: 1_010 })
    assert.deepEqual(record.proofsOfTwo('web'), [])
  })
})
