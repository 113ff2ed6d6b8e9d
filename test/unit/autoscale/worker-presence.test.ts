import assert from 'node:assert/strict'
import { beatMs, keepPresence, silentMs } from '../../../activities/autoscale/worker-presence.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

/** The table of workers in memory, with the time at which each was heard. */
class Table {
  readonly heardMs = new Map<string, number>()
  isAway = false
  readonly #clock: VirtualClock

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  renew(id: string): void {
    if (this.isAway) throw new Error('the database is away')
    this.heardMs.set(id, this.#clock.nowMs)
  }

  forgetSilent(ms: number): number {
    if (this.isAway) throw new Error('the database is away')
    const silent = [...this.heardMs].filter(([, atMs]) => atMs < this.#clock.nowMs - ms)
    for (const [id] of silent) this.heardMs.delete(id)
    return silent.length
  }
}

describe('the presence of workers', () => {
  let clock: VirtualClock
  let table: Table
  let calls: string[]
  beforeEach(() => {
    clock = new VirtualClock()
    table = new Table(clock)
    calls = []
  })
  const begin = (id: string) =>
    keepPresence({
      renew: async () => await Promise.resolve(table.renew(id)),
      forgetSilent: async (ms) => await Promise.resolve(table.forgetSilent(ms)),
      leave: async () => {
        await Promise.resolve(table.heardMs.delete(id))
      },
      callIn: () => calls.push(id),
      nowMs: () => clock.nowMs,
      timers: clock.timers,
    })

  it('calls in the watches of workers that are gone when it begins, and of none while all are heard', async () => {
    const [endOne, endOther] = [begin('one'), begin('other')]
    await clock.pass(60_000)
    assert.deepEqual(calls, ['one', 'other'])
    assert.deepEqual([...table.heardMs.keys()], ['one', 'other'])
    await Promise.all([endOne(), endOther()])
    assert.equal(clock.pending, 0)
    assert.equal(table.heardMs.size, 0)
  })

  it('notices a killed worker within 8 s, and one of the others calls its watches in', async () => {
    const ends = [begin('one'), begin('other')]
    table.renew('killed')
    await clock.pass(silentMs - 1_000)
    calls = []
    await clock.pass(1_000 + beatMs)
    assert.equal(calls.length, 1)
    assert.ok(!table.heardMs.has('killed'))
    await Promise.all(ends.map((end) => end()))
  })

  it('takes no worker for gone that had no time to be heard after the database was away', async () => {
    const ends = [begin('one')]
    await clock.pass(10_000)
    table.renew('slow')
    calls = []
    table.isAway = true
    await clock.pass(30_000)
    table.isAway = false
    await clock.pass(silentMs - beatMs)
    assert.ok(table.heardMs.has('slow'))
    assert.deepEqual(calls, [])
    await clock.pass(3 * beatMs)
    assert.deepEqual(calls, ['one'])
    await Promise.all(ends.map((end) => end()))
  })

  it('calls in watches once the database answers, if it was away at the begin', async () => {
    table.isAway = true
    const end = begin('one')
    await clock.pass(10_000)
    assert.deepEqual(calls, [])
    table.isAway = false
    await clock.pass(beatMs)
    assert.deepEqual(calls, ['one'])
    await end()
  })
})
