import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { AutoscalePhase, firstBlockMs, longestBlockMs } from '../../../src/domain/autoscale/life.ts'
import { replaceOne, resizeTo } from '../../support/autoscale-outcomes.ts'
import { startTimeSkipping } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { createAutoscaleWorld } from './world.ts'
import type { AutoscaleWorld, AutoscaleWorldOptions } from './world.ts'

const { Watching } = AutoscalePhase
const soon = { limitMs: 30_000 }

describe('an autoscale configuration as a workflow', () => {
  let env: TestWorkflowEnvironment
  let world: AutoscaleWorld
  before(async () => {
    env = await startTimeSkipping()
  })
  after(() => env.teardown())
  afterEach(async () => {
    // A watch that is cancelled when its workflow is over would hold back the server's clock for the next
    // test.
    world.service.isAway = true
    await until('nobody watches', () => !world.service.isWatched, soon)
    await world.end()
  })

  async function begin(options: AutoscaleWorldOptions = {}): Promise<void> {
    world = await createAutoscaleWorld(env, options)
    await world.control.configured(world.settings)
    await world.isWatched()
  }

  /** Skips time. Nobody watches meanwhile, because time is not skipped while a watch is under way. */
  async function pass(durationMs: number): Promise<void> {
    world.service.isAway = true
    await env.sleep(durationMs)
    world.service.isAway = false
    await passUntilWatched()
  }

  /** Skips time in small steps until the service is watched. From then on, time passes as on any clock. */
  async function passUntilWatched(): Promise<void> {
    while (!world.service.isWatched) await env.sleep('1 second')
  }

  it('leaves nothing in its history while nothing happens, through hours and more than a thousand attempts', async () => {
    await begin()
    const entries = await world.entries()
    await pass(3 * 3_600_000)
    assert.ok(world.service.count('watch') > 1_000, `${world.service.count('watch')} attempts`)
    assert.ok(world.service.beats >= world.service.count('watch'))
    assert.equal(await world.entries(), entries)
    world.service.sees(resizeTo(3))
    await world.isWatched(3)
    assert.equal(world.service.size, 3)
  })

  it('grows, and shrinks, and watches for each size that it made', async () => {
    await begin()
    world.service.sees(resizeTo(3), resizeTo(5, 3), resizeTo(2, 5))
    await world.isWatched(2)
    const { calls } = world.service
    assert.deepEqual(calls, ['watch any', 'align 3', 'watch 3', 'align 5', 'watch 5', 'align 2', 'watch 2'])
    assert.ok(world.service.aligned.every(({ mayAdd }) => mayAdd))
    assert.equal(world.service.overlaps, 0)
  })

  it('adds nothing for 5 s after a refusal, for twice as long after each further refusal, and then tries again', async () => {
    await begin({
      alignmentOf: ({ mayAdd }, nth) => (mayAdd && nth < 20 ? { size: 1, refusal: 'no room' } : {}),
    })
    let blockMs = firstBlockMs
    for (let failures = 1; failures <= 7; failures++) {
      world.service.sees(resizeTo(3))
      const {
        failedAtMs = 0,
        blockedUntilMs,
        target,
      } = await world.reaches((life) => life.failures === failures && life.phase === Watching)
      assert.equal(blockedUntilMs, failedAtMs + blockMs)
      assert.equal(target, 1)
      blockMs = Math.min(longestBlockMs, blockMs * 2)
      const asked = world.service.aligned.length
      world.service.sees(resizeTo(2))
      await until('it is asked', () => world.service.aligned.length > asked, soon)
      assert.equal(world.service.aligned.at(-1)?.mayAdd, false)
      await pass(blockMs)
    }
  })

  it('begins with the shortest block again when something recovered', async () => {
    await begin({ alignmentOf: (_input, nth) => (nth <= 3 ? { size: 1, refusal: 'no room' } : {}) })
    for (const failures of [1, 2]) {
      world.service.sees(resizeTo(3))
      await world.reaches((life) => life.failures === failures && life.phase === Watching)
      await pass(60_000)
    }
    assert.notEqual(world.service.watches.at(-1)?.failedAtMs, undefined)
    world.service.sees({ kind: 'recovered' })
    const { blockedUntilMs, trouble } = await world.reaches((life) => life.failures === 0)
    assert.deepEqual([blockedUntilMs, trouble], [undefined, undefined])
    world.service.sees(resizeTo(3))
    const life = await world.reaches(({ failures, phase }) => failures === 1 && phase === Watching)
    assert.equal(life.blockedUntilMs, (life.failedAtMs ?? 0) + firstBlockMs)
  })

  it('gives a failed instance back at once, and replaces it after the block', async () => {
    await begin()
    world.service.size = 3
    world.service.sees(replaceOne)
    await until('it is aligned', () => world.service.aligned.length === 1, soon)
    assert.partialDeepStrictEqual(world.service.aligned, [{ mayAdd: false, cause: { kind: 'replace' } }])
    assert.equal(world.service.size, 2)
    await world.isWatched(3)
    assert.equal((await world.life()).trouble, 'web-ab12c: it never got ready')
    assert.notEqual(world.service.watches.at(-1)?.blockedUntilMs, undefined)
    await pass(60_000)
    world.service.sees({ kind: 'align', target: 3, size: 2 })
    await until('it is whole', () => world.service.size === 3, soon)
    assert.equal(world.service.aligned.at(-1)?.mayAdd, true)
  })

  for (const call of ['align', 'close'] as const) {
    it(`tries again to ${call} as long as the database is away, without an entry in its history`, async () => {
      const broken = { broken: 'the database is away' }
      const isBroken = (nth: number) => (nth <= 80 ? broken : undefined)
      await begin({
        [call === 'align' ? 'alignmentOf' : 'closingOf']: (...args: unknown[]) =>
          isBroken(args.at(-1) as number),
      })
      if (call === 'align') world.service.sees(resizeTo(3))
      else await world.control.delete(world.settings)
      await until('it is tried', () => world.service.count(call) > 2, soon)
      await env.sleep('1 minute')
      const entries = await world.entries()
      await env.sleep('10 minutes')
      assert.equal(await world.entries(), entries)
      assert.ok(world.service.count(call) > 60, `${world.service.count(call)} attempts`)
      if (call === 'align') await passUntilWatched()
      else await world.over()
      assert.equal(world.service.count(call), 81)
    })
  }
})
