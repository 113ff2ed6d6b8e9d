import { strict as assert } from 'node:assert'
import { maxImageOwnersTold } from '../../../src/domain/host/api-protocol.ts'
import { ToldImages } from '../../../src/host/images/told-images.ts'

describe('the room of images in a heartbeat', () => {
  const warnings: unknown[] = []
  const log = {
    info: () => undefined,
    error: () => undefined,
    warn: (fields: object) => void warnings.push(fields),
  }
  let used: () => Promise<ReadonlyMap<string, number>>
  const told = new ToldImages({ images: { usedBytes: async () => await used() }, log })

  it('is the share of each user', async () => {
    used = async () => await Promise.resolve(new Map([['ann', 7]]))
    assert.deepEqual(await told.bytesByUser(), { ann: 7 })
  })

  it('is the last known one if the disk can not be read, so that heartbeats go on', async () => {
    used = async () => await Promise.reject(new Error('the disk fails'))
    assert.deepEqual(await told.bytesByUser(), { ann: 7 })
    assert.equal(warnings.length, 1)
  })

  it('names only the users that hold most, so that no number of users makes a heartbeat too large', async () => {
    const users = Array.from(
      { length: maxImageOwnersTold + 2 },
      (_, index) => [`user-${index}`, index] as const,
    )
    used = async () => await Promise.resolve(new Map(users))
    const shares = await told.bytesByUser()
    assert.equal(Object.keys(shares).length, maxImageOwnersTold)
    assert.ok(!('user-1' in shares) && 'user-2' in shares)
  })
})
