import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HostTerm } from '../../../src/host/agent/host-term.ts'
import type { NodeAssignment } from '../../../src/domain/host/api-protocol.ts'
import { FakeNetwork } from '../../../src/host/fakes/fake-network.ts'
import { until } from '../../support/until.ts'

const termMs = 60_000
const limit = { limitMs: 10_000 }
/** The host ends its VMs so long before the deadline. */
const aheadMs = 500

describe("a host's term", () => {
  let directory: string
  /** CLOCK_BOOTTIME. */
  let nowMs: number
  let faults: { failGuard?: boolean }
  let network: FakeNetwork
  let vms: { isKept: boolean; heeds: boolean; heeded: number }
  let done: string[]
  let logged: string[]
  let failClearing: boolean
  let terms: HostTerm[]

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'roost-term-'))
    nowMs = 1_000_000
    faults = {}
    network = new FakeNetwork(faults)
    vms = { isKept: true, heeds: true, heeded: 0 }
    done = []
    logged = []
    failClearing = false
    terms = []
  })
  afterEach(async () => {
    for (const term of terms) await term.close()
    await rm(directory, { recursive: true, force: true })
  })

  const note = (_: object, message: string): void => void logged.push(message)
  const log = { info: note, warn: note, error: note }

  async function open({ hostBootId = 'first-boot' } = {}): Promise<HostTerm> {
    const term = await HostTerm.open({
      agentDirectory: directory,
      clock: () => nowMs,
      hostBootId,
      vms: {
        isKept: () => vms.isKept,
        heed: async () => {
          vms.heeded += 1
          return await Promise.resolve(vms.heeds)
        },
      },
      guard: async (leftMs) => await network.guard(leftMs),
      endAll: async () => void (await Promise.resolve(done.push('ended'))),
      clearUp: async () => {
        if (failClearing) throw new Error('the API is away')
        done.push('cleared up')
        await Promise.resolve()
      },
      log,
    })
    terms.push(term)
    return term
  }

  /** The deadline that keepers read. */
  async function deadline(): Promise<number | 'none'> {
    const text = await readFile(join(directory, 'term'), 'utf8')
    const [first, second] = text.split(' ')
    assert.equal(first, second)
    return first?.startsWith('-') === true ? 'none' : Number(first)
  }

  type Answer = Pick<NodeAssignment, 'termMs' | 'loss'>

  /** One heartbeat that takes `slowMs` until it is answered. Returns what it told. */
  async function beat(term: HostTerm, answer: Answer | undefined, slowMs = 0) {
    const told = await term.tell()
    nowMs += slowMs
    const isUrgent = answer !== undefined && (await term.take(told, answer))
    if (answer === undefined) await term.missed()
    const { sentAtMs, ...rest } = told
    return { told: rest, sentAtMs, isUrgent }
  }

  const on: Answer = { termMs, loss: 0 }

  /** A host whose term has begun. */
  async function begun(): Promise<HostTerm> {
    const term = await open()
    await beat(term, on)
    await beat(term, on)
    return term
  }

  it('is not there until the API asks for it, and costs nothing', async () => {
    const term = await open()
    for (let beats = 0; beats < 5; beats += 1) {
      assert.deepEqual((await beat(term, { loss: 0 })).told, { loss: 0 })
    }
    assert.equal(await deadline(), 'none')
    assert.equal(term.secondsLeft(), undefined)
    assert.equal(term.refusal(), undefined)
    assert.deepEqual(network.guards, [undefined])
    assert.equal(vms.heeded, 0)
  })

  it('begins before the first heartbeat that tells it, because its answer may be lost', async () => {
    const term = await open()
    await beat(term, on)
    const sentAtMs = nowMs
    const { told } = await beat(term, undefined, 2_000)
    assert.deepEqual(told, { termMs, loss: 0 })
    assert.equal(await deadline(), sentAtMs + termMs)
    assert.equal(vms.heeded, 1)
    assert.equal(term.secondsLeft(), (termMs - 2_000) / 1_000)
  })

  it('is renewed from the moment when the heartbeat was sent, however late its answer comes', async () => {
    const term = await begun()
    nowMs += 5_000
    const { sentAtMs } = await beat(term, on, 30_000)
    assert.equal(await deadline(), sentAtMs + termMs)
    nowMs += 40_000
    // This answer comes after the deadline that it would set.
    const late = await beat(term, on, termMs)
    assert.notEqual(await deadline(), late.sentAtMs + termMs)
    assert.notEqual(term.refusal(), undefined)
  })

  it('ends if no answer renews it, and begins again with the next one', async () => {
    const term = await begun()
    nowMs += termMs - aheadMs - 1
    await beat(term, undefined)
    assert.equal(term.refusal(), undefined)
    nowMs += 1
    await beat(term, undefined)
    assert.equal(
      term.refusal(),
      'this host has had no answer of the API for 60 s, so it runs nothing until it has one',
    )
    nowMs += 10_000
    assert.equal(term.secondsLeft(), 0)
    const { told } = await beat(term, on)
    assert.deepEqual(told, { termMs, loss: 0 })
    assert.equal(term.refusal(), undefined)
    assert.equal(await deadline(), nowMs + termMs)
    assert.deepEqual(logged, ['the API answers again, so this host may run VMs again'])
  })

  it('takes a longer term from the next heartbeat on, and a shorter one before it is told', async () => {
    const term = await begun()
    nowMs += 1_000
    await beat(term, { termMs: 2 * termMs, loss: 0 })
    assert.equal(await deadline(), nowMs + termMs)
    nowMs += 1_000
    assert.equal((await beat(term, { termMs: 20_000, loss: 0 })).told.termMs, 2 * termMs)
    assert.equal(await deadline(), nowMs + 2 * termMs)
    nowMs += 1_000
    assert.equal((await beat(term, undefined)).told.termMs, 20_000)
    assert.equal(await deadline(), nowMs + 20_000)
    assert.equal(vms.heeded, 2)
    assert.ok((network.guards.at(-1) ?? Number.NaN) <= 20_000)
  })

  it('is over with an answer only to a heartbeat that told none', async () => {
    const term = await begun()
    nowMs += 1_000
    const off = { loss: 0 }
    assert.equal((await beat(term, off)).told.termMs, termMs)
    assert.equal(await deadline(), nowMs + termMs, 'this heartbeat told a term')
    nowMs += 1_000
    assert.equal((await beat(term, undefined)).told.termMs, undefined)
    assert.equal(await deadline(), nowMs - 1_000 + termMs, 'nobody answered')
    await beat(term, off)
    assert.equal(await deadline(), 'none')
    assert.equal(network.guards.at(-1), undefined)
    nowMs += 2 * termMs
    assert.equal(term.refusal(), undefined)
  })

  it('is not told while a VM runs that does not keep it', async () => {
    vms.isKept = false
    const term = await open()
    await beat(term, on)
    assert.deepEqual((await beat(term, on)).told, { loss: 0 })
    assert.equal(await deadline(), 'none')
    vms.isKept = true
    assert.deepEqual((await beat(term, on)).told, { termMs, loss: 0 })
  })

  it('is not told, and does not begin, while a keeper does not answer; and is not tried with each heartbeat', async () => {
    vms.heeds = false
    const term = await open()
    await beat(term, on)
    for (let beats = 0; beats < 10; beats += 1) {
      assert.deepEqual((await beat(term, on)).told, { loss: 0 })
      nowMs += 1_000
    }
    assert.equal(await deadline(), 'none')
    assert.equal(network.guards.at(-1), undefined)
    assert.equal(vms.heeded, 1)
    vms.heeds = true
    nowMs += 30_000
    assert.deepEqual((await beat(term, on)).told, { termMs, loss: 0 })
  })

  it('goes on with the next agent: with its deadline, its guard and what it tells', async () => {
    await begun()
    const deadlineMs = await deadline()
    nowMs += 10_000
    network.guards.length = 0
    const next = await open()
    assert.equal(await deadline(), deadlineMs)
    assert.deepEqual(network.guards, [termMs - 10_000 - aheadMs])
    assert.deepEqual((await beat(next, undefined)).told, { termMs, loss: 0 })
    assert.equal(await deadline(), deadlineMs)
    nowMs += termMs
    assert.notEqual((await open()).refusal(), undefined)
    assert.equal(network.guards.at(-1), 0)
  })

  it('is told by the next agent only once all keepers have read it, because the last one may have died before', async () => {
    await begun()
    const { heeded } = vms
    vms.heeds = false
    const next = await open()
    assert.deepEqual((await beat(next, undefined)).told, { loss: 0 })
    vms.heeds = true
    nowMs += 30_000
    assert.deepEqual((await beat(next, on)).told, { termMs, loss: 0 })
    await beat(next, on)
    assert.equal(vms.heeded, heeded + 2)
  })

  it('is over after a reboot of the machine until the API answers, if the API may know of it', async () => {
    await begun()
    const next = await open({ hostBootId: 'second-boot' })
    assert.equal(await deadline(), 0)
    assert.match(next.refusal() ?? '', /no answer of the API since it started/)
    await beat(next, on)
    assert.equal(next.refusal(), undefined)
    await beat(next, { loss: 0 })
    await beat(next, { loss: 0 })
    const third = await open({ hostBootId: 'third-boot' })
    assert.equal(await deadline(), 'none')
    assert.equal(third.refusal(), undefined)
  })

  it('counts as over after a reboot even if the setting went off and the API was not told yet', async () => {
    await beat(await begun(), { loss: 0 })
    await open({ hostBootId: 'second-boot' })
    assert.equal(await deadline(), 0)
  })

  it('is on the safe side if what the last agent left is damaged', async () => {
    await begun()
    await writeFile(join(directory, 'term'), 'x'.repeat(16))
    await writeFile(join(directory, 'term.json'), '{"is')
    await open()
    assert.equal(await deadline(), 0)
  })

  it('has a guard that is set for a sixth of the heartbeats, and that gets the rest when answers stay out', async () => {
    const term = await begun()
    network.guards.length = 0
    for (let seconds = 0; seconds < 60; seconds += 1) {
      nowMs += 1_000
      await beat(term, on)
    }
    assert.equal(network.guards.length, 6)
    assert.ok(network.guards.every((leftMs) => leftMs === termMs - aheadMs))
    nowMs += 5_000
    await beat(term, on)
    network.guards.length = 0
    nowMs += 10_000
    await beat(term, undefined)
    await beat(term, undefined)
    assert.deepEqual(network.guards, [termMs - 10_000 - aheadMs])
  })

  it('is not renewed while its guard can not be set', async () => {
    const term = await begun()
    const before = await deadline()
    faults.failGuard = true
    for (let seconds = 0; seconds < 5; seconds += 1) {
      nowMs += 10_000
      await beat(term, on)
    }
    assert.equal(await deadline(), before)
    assert.deepEqual(
      [...new Set(logged)],
      ['the term of this host could not be renewed; it will be tried again'],
    )
    faults.failGuard = false
    await beat(term, on)
    assert.equal(await deadline(), nowMs + termMs)
  })

  it('is told by no host whose guard does not work', async () => {
    faults.failGuard = true
    const term = await open()
    await beat(term, on)
    assert.deepEqual((await beat(term, on)).told, { loss: 0 })
    assert.equal(await deadline(), 'none')
  })

  describe('of a host that was lost', () => {
    const lost: Answer = { termMs, loss: 3 }

    it('is not renewed; the host ends its VMs, clears up, keeps the number and tells it at once', async () => {
      const term = await begun()
      nowMs += 1_000
      const { isUrgent } = await beat(term, lost)
      assert.equal(isUrgent, true)
      assert.deepEqual(done, ['ended', 'cleared up'])
      assert.equal(await deadline(), 0)
      assert.equal(network.guards.at(-1), 0)
      assert.notEqual(term.refusal(), undefined)
      assert.equal(
        (JSON.parse(await readFile(join(directory, 'term.json'), 'utf8')) as { loss: number }).loss,
        3,
      )
      const next = await beat(term, lost)
      assert.deepEqual(next.told, { termMs, loss: 3 })
      assert.equal(next.isUrgent, false)
      assert.equal(term.refusal(), undefined)
      assert.deepEqual(done, ['ended', 'cleared up', 'cleared up'], 'once more when the API has heard of it')
      await beat(term, lost)
      assert.equal(done.length, 3)
    })

    it('runs nothing until what was placed elsewhere meanwhile is removed, also with the next agent', async () => {
      const term = await begun()
      await beat(term, lost)
      failClearing = true
      await beat(term, lost)
      assert.match(term.refusal() ?? '', /taken for lost/)
      assert.equal(await deadline(), 0)
      const next = await open()
      await beat(next, lost)
      assert.match(next.refusal() ?? '', /taken for lost/)
      failClearing = false
      assert.deepEqual((await beat(next, lost)).told, { termMs, loss: 3 })
      assert.equal(next.refusal(), undefined)
    })

    it('stays over until clearing up has succeeded, also with the next agent', async () => {
      const term = await begun()
      failClearing = true
      for (let beats = 0; beats < 3; beats += 1) {
        const { told, isUrgent } = await beat(term, lost)
        assert.deepEqual({ told, isUrgent }, { told: { termMs, loss: 0 }, isUrgent: false })
        assert.match(term.refusal() ?? '', /taken for lost/)
      }
      const next = await open()
      assert.notEqual(next.refusal(), undefined)
      assert.equal((await beat(next, lost)).told.loss, 0)
      failClearing = false
      assert.equal((await beat(next, lost)).isUrgent, true)
      assert.equal((await beat(next, lost)).told.loss, 3)
      assert.equal(next.refusal(), undefined)
    })

    it('clears up even if it tells no term by now', async () => {
      const term = await open()
      assert.equal((await beat(term, { loss: 1 })).isUrgent, true)
      assert.deepEqual(done, ['ended', 'cleared up'])
      await beat(term, { loss: 1 })
      assert.equal(await deadline(), 'none')
    })
  })

  it('is logged once when it ends, and its VMs are ended by the agent, too', async () => {
    const term = await open()
    await beat(term, { termMs: aheadMs + 100, loss: 0 })
    const clockOf = performance.now() - nowMs
    await beat(term, undefined)
    await until(
      'the time has come',
      () => {
        nowMs = performance.now() - clockOf
        return done.length > 0
      },
      limit,
    )
    await until('it is logged', () => logged.length > 0, limit)
    await beat(term, undefined)
    assert.deepEqual(logged, ['no answer of the API for 0.6 s: all VMs have ended'])
    assert.deepEqual(done, ['ended'])
  })
})
