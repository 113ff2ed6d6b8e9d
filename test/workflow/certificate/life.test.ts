import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { CertificateStep } from '../../../src/domain/certificate/lifecycle.ts'
import { CertificateState } from '../../../src/domain/service/handler.ts'
import { fakeLifeMs } from '../../support/fake-certificate-steps.ts'
import { startTimeSkipping } from '../../support/temporal.ts'
import { createCertificateWorld } from './world.ts'
import type { CertificateWorld, CertificateWorldOptions } from './world.ts'

const { Order, Prove, Finalise, Install } = CertificateStep
const { Pending, Valid, Error: Failed } = CertificateState
const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const failed = { verdict: 'failed', reason: 'the name leads elsewhere' } as const
const away = { verdict: 'later', reason: 'the authority is away' } as const

describe('a requested certificate as a workflow', () => {
  let env: TestWorkflowEnvironment
  let world: CertificateWorld
  before(async () => {
    env = await startTimeSkipping()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  async function begin(options: CertificateWorldOptions = {}): Promise<void> {
    world = await createCertificateWorld(env, options)
    await world.control.ensureStarted(world.settings)
  }

  /**
   * Returns the times between the calls of a step, in ms. Each is a little longer than planned, because the
   * machine itself takes time.
   */
  function gapsMs(step: CertificateStep): readonly number[] {
    const times = world.steps.timesOf(step)
    return times.slice(1).map((atMs, index) => atMs - times[index]!)
  }

  function assertGaps(step: CertificateStep, wantedMs: readonly number[]): void {
    const gaps = gapsMs(step)
    assert.equal(gaps.length, wantedMs.length, `gaps of ${gaps.join(', ')} ms`)
    for (const [index, gap] of gaps.entries()) {
      const over = gap - wantedMs[index]!
      assert.ok(over >= 0 && over < 30 * secondMs, `gap ${index + 1} is ${gap} ms`)
    }
  }

  it('is issued by one order, proof, request and installation, and then served', async () => {
    await begin()
    const record = await world.reachesState(Valid)
    assert.deepEqual(world.steps.calls.slice(0, 4), [Order, Prove, Finalise, Install])
    assert.deepEqual({ ...record, nextAtMs: 0 }, { state: Valid, attempt: 0, nextAtMs: 0 })
    assert.deepEqual(world.row.written[0], { state: Pending, attempt: 1 })
  })

  it('is tried after 1, 10 and 100 minutes and then daily, eight times, and then given up with the reason', async () => {
    await begin({ outcomeOf: (step) => (step === Prove ? failed : undefined) })
    await env.sleep('6 days')
    const record = await world.reachesState(Failed)
    assert.deepEqual(record, { state: Failed, attempt: 8, failure: failed.reason })
    assertGaps(Prove, [minuteMs, 10 * minuteMs, 100 * minuteMs, dayMs, dayMs, dayMs, dayMs])
    await env.sleep('60 days')
    assert.equal(world.steps.count(Prove), 8)
    assert.equal(world.steps.count(Finalise), 0)
  })

  it('says while it waits how many attempts there were and when the next one is', async () => {
    await begin({ outcomeOf: (step, nth) => (step === Prove && nth <= 2 ? failed : undefined) })
    const { nextAtMs } = await world.reaches(({ failure }) => failure !== undefined)
    const nowMs = await env.currentTimeMs()
    assert.ok(nextAtMs !== undefined && nextAtMs > nowMs && nextAtMs <= nowMs + minuteMs)
    await env.sleep('20 minutes')
    await world.reachesState(Valid)
    assert.deepEqual(
      world.row.written.map(({ attempt }) => attempt),
      [1, 1, 2, 2, 3, 0],
    )
  })

  it('waits as long as the authority wants, counts no attempt for the wait, and goes on with the same step', async () => {
    let retryAtMs = 0
    await begin({
      outcomeOf: (step, nth) => {
        if (step !== Finalise || nth > 1) return undefined
        return { verdict: 'later', reason: 'too many certificates', retryAtMs }
      },
    })
    retryAtMs = (await env.currentTimeMs()) + 30 * hourMs
    await world.reaches(({ failure }) => failure === 'too many certificates')
    await env.sleep('31 hours')
    await world.reachesState(Valid)
    assert.deepEqual([world.steps.count(Order), world.steps.count(Prove)], [1, 1])
    assert.ok(gapsMs(Finalise)[0]! >= 29 * hourMs)
    assert.ok(world.row.written.every(({ attempt }) => attempt <= 1))
  })

  it('asks an authority that is away less and less often, hourly in the end, and does not give up', async () => {
    await begin({ outcomeOf: (step, nth) => (step === Order && nth <= 12 ? away : undefined) })
    await env.sleep('9 hours')
    await world.reachesState(Valid)
    const untoldMs = [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60].map((count) => count * minuteMs)
    assertGaps(Order, untoldMs)
    assert.ok(world.row.written.every(({ attempt }) => attempt <= 1))
  })

  it('is given up at once where the authority refuses the name', async () => {
    const refused = { verdict: 'refused', reason: 'this name is on a list' } as const
    await begin({ outcomeOf: (step) => (step === Order ? refused : undefined) })
    assert.deepEqual(await world.reachesState(Failed), {
      state: Failed,
      attempt: 1,
      failure: refused.reason,
    })
  })

  it('that was given up is tried again when a person asks for it', async () => {
    let isMended = false
    await begin({ outcomeOf: (step) => (step === Prove && !isMended ? failed : undefined) })
    await env.sleep('6 days')
    await world.reachesState(Failed)
    isMended = true
    await world.control.retry(world.settings)
    assert.equal((await world.reachesState(Valid)).failure, undefined)
    assert.equal(world.steps.count(Order), 9)
  })

  it('makes an attempt at once if it came due while there was no workflow', async () => {
    const nextAtMs = (await env.currentTimeMs()) - minuteMs
    await begin({ settings: { recorded: { state: Pending, attempt: 2, nextAtMs, revision: 3 } } })
    await world.reachesState(Valid)
    assert.equal(world.steps.count(Order), 1)
  })

  it('does not wait for the next attempt when a person asks for it now', async () => {
    await begin({ outcomeOf: (step, nth) => (step === Prove && nth === 1 ? failed : undefined) })
    await world.reaches(({ failure }) => failure !== undefined)
    await world.control.retry(world.settings)
    await world.reachesState(Valid)
    assert.ok(gapsMs(Order)[0]! < minuteMs)
  })

  it('is renewed at about two thirds of its life, again and again, and stays valid meanwhile', async () => {
    await begin()
    await world.reachesState(Valid)
    await env.sleep('130 days')
    assert.equal(world.steps.count(Install), 3)
    for (const gap of gapsMs(Install)) {
      assert.ok(gap > fakeLifeMs * 0.61 && gap < fakeLifeMs * 0.67, `renewed after ${gap / dayMs} days`)
    }
    const states = world.row.written.map(({ state }) => state)
    assert.ok(!states.slice(states.indexOf(Valid)).includes(Pending))
  })

  it('is renewed when the authority advises to, and asks for the advice daily', async () => {
    const toldAtMs = await env.currentTimeMs()
    const window = { startMs: toldAtMs + 10 * dayMs, endMs: toldAtMs + 11 * dayMs }
    await begin({ adviceOf: (nth) => (nth >= 4 && nth < 12 ? { window } : {}) })
    await world.reachesState(Valid)
    await env.sleep('5 days')
    assert.ok(world.steps.count('ask') >= 5 && world.steps.count('ask') <= 6)
    await env.sleep('7 days')
    assert.equal(world.steps.count(Install), 2)
    assert.ok(world.steps.timesOf(Install)[1]! < window.endMs + minuteMs)
  })

  it('is served while its renewals fail, and begins a new sequence of attempts when it has expired', async () => {
    await begin({ outcomeOf: (step, nth) => (step === Order && nth > 1 ? failed : undefined) })
    await world.reachesState(Valid)
    await env.sleep('85 days')
    assert.equal(world.row.record?.state, Valid)
    assert.ok(world.row.record.attempt > 20, `${world.row.record.attempt} attempts`)
    assert.equal(world.row.record.failure, failed.reason)
    await env.sleep('6 days')
    assert.equal(world.row.record.state, Pending)
    assert.ok(world.row.record.attempt <= 5)
    await env.sleep('5 days')
    assert.equal(world.row.record.state, Failed)
  })

  it('shows no failure for a short fault of the installation itself', async () => {
    await begin({
      outcomeOf: (step, nth) =>
        step === Install && nth < 4 ? { broken: 'the database is away' } : undefined,
    })
    await env.sleep('1 minute')
    await world.reachesState(Valid)
    assert.ok(world.row.written.every(({ failure }) => failure === undefined))
  })

  it('counts no attempt for a longer fault of the installation itself, and says whose fault it is', async () => {
    await begin({
      outcomeOf: (step, nth) => (step === Install && nth < 9 ? { broken: 'the disk is full' } : undefined),
    })
    await env.sleep('45 seconds')
    const { failure, attempt } = await world.reaches((record) => record.failure !== undefined)
    assert.match(failure ?? '', /^this installation did not get it done/)
    assert.equal(attempt, 1)
    await env.sleep('3 minutes')
    await world.reachesState(Valid)
  })

  it('ends by itself where a step finds that there is no row any more', async () => {
    await begin({ outcomeOf: (step) => (step === Prove ? 'gone' : undefined) })
    await world.over()
    assert.deepEqual(world.steps.calls, [Order, Prove])
    world.row.isGone = true
  })

  it('ends by itself within a day if its row was deleted without telling it', async () => {
    await begin({ outcomeOf: (step, nth) => (step === Prove && nth === 1 ? failed : undefined) })
    await world.reaches(({ failure }) => failure !== undefined)
    world.row.isGone = true
    await env.sleep('2 minutes')
    await world.over()
  })

  it('is written down when the database comes back', async () => {
    await begin({ writeFails: (nth) => nth <= 6 })
    await env.sleep('2 minutes')
    await world.reachesState(Valid)
  })
})
