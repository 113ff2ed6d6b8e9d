import { strict as assert } from 'node:assert'
import { addNode } from '../../support/accounts.ts'
import { autoscaleRows } from '../../support/autoscale-rows.ts'

describe('the clones of an autoscaled service on several hosts', () => {
  const { newUser, scaled, align, clones, database } = autoscaleRows()

  it('are spread with their master, also over hosts that have less room', async () => {
    for (const id of ['second', 'third']) await addNode(database(), { id, memoryMb: 2_048 })
    const service = await scaled(await newUser())
    await align(service, 6)
    const all = [service.master, ...(await clones(service))]
    const counts = Map.groupBy(all, ({ nodeId }) => nodeId)
    assert.deepEqual(
      [...counts.values()].map(({ length }) => length),
      [2, 2, 2],
    )
  })
})
