import assert from 'node:assert/strict'
import { callInWatches } from '../../../activities/autoscale/watch-calls.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

describe('the calling in of watches', () => {
  let clock: VirtualClock
  let asked: string[]
  let controller: AbortController
  const fails = new Set<string>()
  const living = new Set(['worker'])
  let lists = 0
  let databaseFails = 0
  beforeEach(() => {
    clock = new VirtualClock()
    asked = []
    controller = new AbortController()
    fails.clear()
    lists = 0
    databaseFails = 0
  })
  const uuids = Array.from({ length: 10 }, (_, index) => `s${index}`)
  const begin = (): Promise<number> =>
    callInWatches({
      listServices: async () => {
        lists += 1
        if (lists <= databaseFails) throw new Error('the database is away')
        return await Promise.resolve(uuids)
      },
      listWorkers: async () => await Promise.resolve(living),
      callIn: async (uuid, told) => {
        assert.equal(told, living)
        asked.push(uuid)
        if (fails.has(uuid)) throw new Error('Temporal is away')
        return await Promise.resolve(uuid !== 's3')
      },
      timers: clock.timers,
      signal: controller.signal,
    })

  it('calls in the watch of each service once, and counts the services that had a watch', async () => {
    assert.equal(await begin(), 9)
    assert.deepEqual(asked.toSorted(), uuids)
    assert.equal(clock.pending, 0)
  })

  it('goes on with the remaining services after the database or Temporal was away', async () => {
    databaseFails = 2
    for (const uuid of uuids.slice(4)) fails.add(uuid)
    const called = begin()
    await clock.pass(2_500)
    assert.ok(asked.includes('s4'))
    fails.clear()
    await clock.pass(1_000)
    assert.equal(await called, 9)
    assert.equal(lists, 3)
    assert.deepEqual([...new Set(asked)].toSorted(), uuids)
    assert.equal(asked.filter((uuid) => uuid === 's0').length, 1)
  })

  it('lets no service wait for another whose call always fails', async () => {
    fails.add('s0')
    const called = begin()
    await clock.pass(500)
    assert.deepEqual([...new Set(asked)].toSorted(), uuids)
    fails.clear()
    await clock.pass(1_000)
    assert.equal(await called, 9)
  })

  it('ends at once when the worker stops', async () => {
    for (const uuid of uuids) fails.add(uuid)
    const called = begin()
    await clock.pass(1_500)
    controller.abort()
    assert.equal(await called, 0)
    assert.equal(clock.pending, 0)
  })
})
