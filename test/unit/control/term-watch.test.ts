import assert from 'node:assert/strict'
import { TermWatch } from '../../../src/control/term-watch.ts'
import type { HostTerm } from '../../../src/db/host/loss.ts'

const termMs = 60_000

/** A watch over rows that the test writes, by a clock that the test moves. */
function scene() {
  const rows = new Map<string, HostTerm>()
  const started: string[] = []
  const silent: string[] = []
  const problems: string[] = []
  const faults = { read: false, hang: false, start: false }
  let nowMs = 1_000
  let readingMs = 0
  const watch = new TermWatch({
    async readTerms() {
      nowMs += readingMs
      if (faults.hang) await new Promise(() => undefined)
      if (faults.read) throw new Error('PostgreSQL is away')
      return [...rows.values()]
    },
    async start(hostId) {
      if (faults.start) throw new Error('Temporal is away')
      started.push(hostId)
    },
    nowMs: () => nowMs,
    readLimitMs: 20,
    onProblem: (message) => problems.push(message),
    onSilent: (hostId) => silent.push(hostId),
  })
  let beats = 0
  return {
    watch,
    started,
    silent,
    problems,
    faults,
    readSlowly: (ms: number) => void (readingMs = ms),
    pass: (ms: number) => void (nowMs += ms),
    /** A heartbeat with this time in its row. */
    beat(id: string, told: Partial<HostTerm> = {}, atMs = (beats += 1)) {
      rows.set(id, {
        id,
        heartbeatAt: new Date(atMs),
        termMs,
        lostAt: null,
        loss: 0,
        drainingAt: null,
        ...told,
      })
    },
    /** Looks once a second for so long. */
    async looks(ms: number) {
      for (let passed = 0; passed < ms; passed += 1_000) {
        nowMs += 1_000
        await watch.look()
      }
    },
  }
}

describe('a watch of the terms of hosts', () => {
  it('begins all counts anew after a read that was never answered', async () => {
    const { watch, beat, looks, faults, problems } = scene()
    beat('h2')
    await looks(30_000)
    faults.hang = true
    await watch.look()
    assert.equal(problems.length, 1)
    assert.equal(watch.of('h2'), undefined)
    faults.hang = false
    await watch.look()
    assert.equal(watch.of('h2')?.unheardMs, 0)
  })

  it('counts how long it has seen no other heartbeat, from the end of the look that saw it first', async () => {
    const { watch, beat, pass, looks, readSlowly } = scene()
    assert.equal(watch.of('h2'), undefined)
    beat('h2')
    readSlowly(300)
    await watch.look()
    assert.deepEqual(watch.of('h2'), { heartbeatAtMs: 1, unheardMs: 0, wasHeard: false })
    readSlowly(0)
    await looks(9_000)
    pass(500)
    assert.deepEqual(watch.of('h2'), { heartbeatAtMs: 1, unheardMs: 9_500, wasHeard: false })
    beat('h2')
    await looks(1_000)
    assert.deepEqual(watch.of('h2'), { heartbeatAtMs: 2, unheardMs: 0, wasHeard: true })
    assert.equal(watch.of('h3'), undefined)
  })

  it('takes the times of rows for names alone: a clock that is set back or forth changes nothing', async () => {
    const { watch, beat, looks } = scene()
    const hourMs = 3_600_000
    beat('h2', {}, 10 * hourMs)
    await looks(30_000)
    const before = watch.of('h2')?.unheardMs
    assert.equal(before, 29_000)
    beat('h3', {}, 20 * hourMs)
    await looks(5_000)
    assert.equal(watch.of('h2')?.unheardMs, 34_000)
    assert.equal(watch.of('h3')?.unheardMs, 4_000)
    beat('h2', {}, 9 * hourMs)
    await looks(1_000)
    assert.equal(watch.of('h2')?.unheardMs, 0, 'an earlier time is a heartbeat, too')
  })

  it('begins all counts anew after a look that failed', async () => {
    const { watch, beat, looks, faults, problems } = scene()
    beat('h2')
    await looks(60_000)
    assert.equal(watch.of('h2')?.unheardMs, 59_000)
    faults.read = true
    await looks(1_000)
    assert.equal(watch.of('h2'), undefined)
    assert.match(problems.join(), /can not be read/)
    faults.read = false
    await looks(11_000)
    assert.deepEqual(watch.of('h2'), { heartbeatAtMs: 1, unheardMs: 10_000, wasHeard: false })
  })

  it('begins all counts anew after a gap between looks, and says nothing while a look hangs', async () => {
    const { watch, beat, pass, looks } = scene()
    beat('h2')
    await looks(60_000)
    pass(5_001)
    assert.equal(watch.of('h2'), undefined)
    await watch.look()
    assert.equal(watch.of('h2')?.unheardMs, 0)
  })

  it('starts the workflow of a host that is silent for 5 s or lost, and again every 30 s', async () => {
    const { beat, looks, started, silent } = scene()
    beat('h2')
    beat('h3', { lostAt: new Date(0), termMs: null })
    beat('h4', { termMs: null })
    await looks(5_000)
    assert.deepEqual(started, ['h3'])
    await looks(1_000)
    assert.deepEqual(started, ['h3', 'h2'])
    await looks(24_000)
    assert.deepEqual(started, ['h3', 'h2'])
    await looks(6_000)
    assert.deepEqual(started, ['h3', 'h2', 'h3', 'h2'])
    beat('h2')
    await looks(5_000)
    assert.deepEqual(silent, ['h2'])
    await looks(1_000)
    assert.deepEqual(silent, ['h2', 'h2'], 'a new silence is told at once')
  })

  it('tries a start again after 5 s that failed', async () => {
    const { beat, looks, started, faults, problems } = scene()
    faults.start = true
    beat('h2', { lostAt: new Date(0) })
    await looks(1_000)
    faults.start = false
    await looks(4_000)
    assert.deepEqual(started, [])
    await looks(1_000)
    assert.deepEqual(started, ['h2'])
    assert.equal(problems.length, 1)
  })

  it('looks every second while a host has a term or is lost, and else every ten', async () => {
    const { watch, beat } = scene()
    beat('h2', { termMs: null })
    assert.equal(await watch.look(), 10_000)
    beat('h2', { termMs: null, lostAt: new Date(0) })
    assert.equal(await watch.look(), 1_000)
    beat('h2')
    assert.equal(await watch.look(), 1_000)
  })
})
