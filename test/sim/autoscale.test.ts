import assert from 'node:assert/strict'
import process from 'node:process'
import { firstBlockMs } from '../../src/domain/autoscale/life.ts'
import type { AutoscaleConfiguration, AutoscaleStep } from '../../src/domain/autoscale/policy.ts'
import { simulateAutoscale } from '../../src/domain/autoscale/simulation.ts'
import type { SimulatedMoment, SimulationSettings } from '../../src/domain/autoscale/simulation.ts'
import { SimulationTally } from '../../src/domain/autoscale/simulation-report.ts'
import type { SimulationReport } from '../../src/domain/autoscale/simulation-report.ts'
import { CurveShape, demandOf, loadCurve } from '../../src/domain/autoscale/load-curve.ts'
import type { LoadCurve } from '../../src/domain/autoscale/load-curve.ts'
import type { SimulatedTroubles } from '../../src/domain/autoscale/simulated-troubles.ts'
import { Dice } from './dice.ts'

/**
 * Simulations of whole services under loads of every shape. A seed decides the policies, the load, which
 * starts fail and which instances are silent. The rules are checked at every moment of each service. To see
 * all moments of one service:
 *
 *   ROOST_SIM_SEED=17 node_modules/.bin/node node_modules/mocha/bin/mocha.js --no-config test/sim/autoscale.test.ts
 */
const runs = 400
/** The number of failed runs that are shown. */
const mostShown = 10
const oneSeed = process.env['ROOST_SIM_SEED']
const seeds = oneSeed === undefined ? Array.from({ length: runs }, (_, at) => at + 1) : [Number(oneSeed)]

const capacities = { cpu: 1_000, in_flight: 10, requests_per_second: 100 }
const hourMs = 3_600_000

function cpu(type: 'change' | 'percent' | 'exact', ...steps: readonly AutoscaleStep[]) {
  return [{ name: 'cpu', metric: 'cpu', adjustmentType: type, steps } as const]
}

/** Policies as people write them. Each of them gives instances back where there is no load. */
const policies = {
  careful: cpu(
    'change',
    { upperBound: 300, adjustment: -1 },
    { lowerBound: 300, upperBound: 600, adjustment: 0 },
    { lowerBound: 600, upperBound: 800, adjustment: 1 },
    { lowerBound: 800, adjustment: 2 },
  ),
  withoutDeadBand: cpu('change', { upperBound: 500, adjustment: -1 }, { lowerBound: 500, adjustment: 1 }),
  byHalves: cpu(
    'percent',
    { upperBound: 400, adjustment: -50 },
    { lowerBound: 400, upperBound: 700, adjustment: 0 },
    { lowerBound: 700, adjustment: 50 },
  ),
  bySizes: cpu(
    'exact',
    { upperBound: 200, adjustment: 1 },
    { lowerBound: 200, upperBound: 500, adjustment: 3 },
    { lowerBound: 500, adjustment: 6 },
  ),
}

function configurationOf(kind: keyof typeof policies, told: Partial<AutoscaleConfiguration> = {}) {
  return { minSize: 1, maxSize: 8, warmupMs: 1_000, cooldownMs: 1_000, policies: policies[kind], ...told }
}

/** The demand is told in busy instances. */
type Told = { readonly demand: LoadCurve } & Partial<Omit<SimulationSettings, 'demand'>>

function settingsOf(told: Told): SimulationSettings {
  const configuration = configurationOf('careful')
  const demand = demandOf(told.demand, capacities)
  return { configuration, capacities, bootMs: 1_500, seed: 1, durationMs: hourMs, ...told, demand }
}

function play(told: Told): {
  readonly moments: readonly SimulatedMoment[]
  readonly report: SimulationReport
} {
  const tally = new SimulationTally()
  const moments = [...simulateAutoscale(settingsOf(told))]
  for (const moment of moments) tally.add(moment)
  return { moments, report: tally.report }
}

function flat(high: number, noise: number, seed = 1) {
  return loadCurve(CurveShape.Flat, { low: 0, high, periodMs: hourMs, noise, seed })
}

/** Each seed has its own world. The load ends at the same moment in all worlds. */
const loadEndsMs = 900_000
function worldOf(seed: number): SimulationSettings {
  const dice = new Dice(seed)
  const minSize = dice.pick([1, 1, 2, 3])
  const quota = dice.chance(0.2) ? dice.whole(minSize, 6) : undefined
  const demand = loadCurve(dice.pick(Object.values(CurveShape)), {
    low: dice.fraction(),
    high: dice.fraction() * 8,
    periodMs: dice.whole(60_000, loadEndsMs),
    noise: dice.pick([0, 0, 0.1, 0.5]),
    seed,
  })
  const silentBeginMs = dice.whole(0, loadEndsMs)
  const silentEndMs = dice.chance(0.4) ? silentBeginMs + dice.whole(1_000, 120_000) : 0
  return settingsOf({
    configuration: configurationOf(
      dice.pick(['careful', 'withoutDeadBand', 'byHalves', 'bySizes'] as const),
      {
        minSize,
        maxSize: minSize + dice.whole(0, 7),
        warmupMs: dice.pick([0, 1_000, 20_000]),
        cooldownMs: dice.pick([0, 1_000, 30_000]),
      },
    ),
    bootMs: dice.pick([300, 1_500, 10_000]),
    seed,
    durationMs: loadEndsMs + 900_000,
    failing: dice.chance(0.3) ? dice.whole(1, 6) : 0,
    ...(quota !== undefined && { quota }),
    demand: (atMs) => (atMs < loadEndsMs ? demand(atMs) : 0),
    ...troublesOf(new Dice(-seed)),
    isSilent: (name, atMs) =>
      atMs >= silentBeginMs && atMs < silentEndMs && (name === 'master' || name.endsWith('1')),
  })
}

/**
 * Returns troubles of other kinds, which only some worlds have. All of them are over 2 s after the load ends
 * at the latest.
 */
function troublesOf(dice: Dice): SimulatedTroubles {
  const span = (share: number) => {
    const beginMs = dice.whole(0, loadEndsMs)
    const endMs = dice.chance(share) ? Math.min(loadEndsMs, beginMs + dice.whole(1_000, 180_000)) : 0
    return (atMs: number) => atMs >= beginMs && atMs < endMs
  }
  const crashAtMs = dice.whole(0, loadEndsMs)
  const crashing = `master-${dice.whole(1, 5)}`
  return {
    isMasterStopped: span(0.3),
    isHostGone: span(0.3),
    isCrashing: (name, atMs) => name === crashing && atMs >= crashAtMs && atMs < crashAtMs + 2_000,
  }
}

/** Returns the rule that a moment breaks, or undefined if it breaks none. */
function faultAt(
  moment: SimulatedMoment,
  failedAtMs: number,
  { configuration, quota = Infinity }: SimulationSettings,
) {
  const { minSize, maxSize } = configuration
  const { atMs, size, serving, servingThen, warm, held, target, outcome, loadUnknown } = moment
  if (servingThen < Math.min(serving, target))
    return `${servingThen} instances serve after ${serving} did, and ${target} are wanted`
  if (held > Math.max(quota, 1)) return `${held} instances are held in a quota of ${quota}`
  if (target > maxSize) return `the target is ${target}, above max_size ${maxSize}`
  if (outcome?.kind !== 'resize') return undefined
  if (outcome.target < minSize || outcome.target > maxSize)
    return `size ${outcome.target} is not in ${minSize} to ${maxSize}`
  const isDown = outcome.target < outcome.decision.from
  if (isDown && loadUnknown) return 'some are given back while a load is unknown'
  if (isDown && warm !== size) return 'some are given back while not all have warmed up'
  return !isDown && atMs < failedAtMs + firstBlockMs ? 'it grows right after a failure' : undefined
}

function faultIn(settings: SimulationSettings): string | undefined {
  const { configuration, quota = Infinity, failing = 0 } = settings
  let last: SimulatedMoment | undefined
  let failedAtMs = -Infinity
  for (const moment of simulateAutoscale(settings)) {
    if (oneSeed !== undefined) process.stdout.write(`${JSON.stringify(moment)}\n`)
    const fault = faultAt(moment, failedAtMs, settings)
    if (fault !== undefined) return `second ${moment.atMs / 1_000}: ${fault}`
    if (moment.outcome?.kind === 'replace' || moment.aligned?.refusal !== undefined) failedAtMs = moment.atMs
    last = moment
  }
  // Each of these policies gives instances back where there is no load.
  const end = Math.min(configuration.minSize, quota)
  if (last?.size === end) return undefined
  return `in the end there are ${last?.size} instances instead of ${end}, after ${failing} failures`
}

describe('autoscale in simulation', () => {
  it(`keeps its promises at every moment of ${oneSeed === undefined ? `${runs} services` : `service ${oneSeed}`}`, function () {
    this.timeout(300_000)
    const failed: string[] = []
    for (const seed of seeds) {
      const fault = faultIn(worldOf(seed))
      if (fault !== undefined) failed.push(`seed ${seed}: ${fault}`)
      if (failed.length >= mostShown) break
    }
    assert.deepEqual(failed, [])
  })

  for (const kind of ['careful', 'withoutDeadBand', 'byHalves', 'bySizes'] as const) {
    const configuration = configurationOf(kind)

    it(`does not flap with policy ${kind} under any steady load between two sizes`, function () {
      this.timeout(120_000)
      for (let load = 0.05; load < 6; load += 0.05) {
        const { report, moments } = play({ configuration, demand: flat(load, 0), durationMs: 600_000 })
        assert.ok(report.directionChanges <= 1, `${load}: ${JSON.stringify(report)}`)
        const late = moments.filter(({ atMs, outcome }) => atMs > 300_000 && outcome !== undefined)
        assert.deepEqual(late, [], `a load of ${load} is not at rest after 5 min`)
      }
    })
  }

  /**
   * Loads at which, for some size, the metric is exactly a bound of a policy. There a small change of the
   * load decides what the policy wants.
   */
  const onBounds = [1, 2, 3, 4, 5].flatMap((size) =>
    [300, 500, 600, 700].map((bound) => (size * bound) / 1_000),
  )
  const noisy = [
    { noise: 0.05, most: 1 },
    { noise: 0.2, most: 8 },
    { noise: 0.5, most: 24 },
  ]
  for (const { noise, most } of noisy) {
    it(`changes its direction at most ${most} times in an hour of a load on a bound that varies by ${noise * 100} %`, function () {
      this.timeout(300_000)
      for (const kind of ['careful', 'withoutDeadBand', 'byHalves'] as const) {
        for (const [at, load] of onBounds.entries()) {
          const { report } = play({ configuration: configurationOf(kind), demand: flat(load, noise, at) })
          assert.ok(report.directionChanges <= most, `${kind} at ${load}: ${JSON.stringify(report)}`)
        }
      }
    })
  }

  it('returns to its size after a failure, even if no policy asks for that', () => {
    // A demand of 1.6 gives four instances a load of 400 each, at which the policy keeps the size. The
    // policy would also keep three instances with 530 each. Even two could still carry the load.
    const demand = (atMs: number) => (atMs < 60_000 ? 3 : 1.6)
    const settled = (moments: readonly SimulatedMoment[], atMs: number) => {
      const { serving, target } = moments[atMs / 1_000]!
      return { serving, target }
    }
    const configuration = configurationOf('careful', { maxSize: 4 })
    const [crashMs, goneMs, backMs] = [120_000, 120_000, 300_000]
    const crashed = play({
      configuration,
      demand,
      isCrashing: (name, atMs) => name === 'master-2' && atMs >= crashMs,
    }).moments
    assert.deepEqual(settled(crashed, crashMs - 1_000), { serving: 4, target: 4 })
    assert.deepEqual(settled(crashed, crashMs), { serving: 3, target: 4 })
    assert.deepEqual(settled(crashed, crashMs + 10_000), { serving: 4, target: 4 })
    const gone = play({
      configuration,
      demand,
      isHostGone: (atMs) => atMs >= goneMs && atMs < backMs,
    }).moments
    assert.ok(settled(gone, goneMs).serving < 4)
    assert.deepEqual(settled(gone, goneMs + 5_000), { serving: 4, target: 4 })
    assert.deepEqual(settled(gone, backMs + 10_000), { serving: 4, target: 4 })
  })

  it('has enough instances within 30 s of a leap from idle to the load of four instances', () => {
    for (const kind of ['careful', 'byHalves', 'bySizes'] as const) {
      const demand = loadCurve(CurveShape.Step, { low: 0.1, high: 4, periodMs: 600_000, seed: 1 })
      const { report } = play({ configuration: configurationOf(kind), demand, durationMs: 300_000 })
      assert.ok(report.longestShortageMs <= 30_000 && !report.endsShort, JSON.stringify(report))
      assert.ok(report.shortages >= 1 && report.largestSize >= 5, JSON.stringify(report))
    }
  })

  it('replaces clones that do not start, with longer and longer pauses, and grows when clones start', () => {
    const { moments, report } = play({ demand: flat(2, 0), failing: 5, durationMs: 600_000 })
    const replaced = moments.filter(({ outcome }) => outcome?.kind === 'replace').map(({ atMs }) => atMs)
    assert.ok(replaced.length >= 2 && replaced.length <= 5, JSON.stringify(replaced))
    assert.equal(report.endsShort, false)
    assert.ok(moments.some(({ outcome }) => outcome?.kind === 'recovered'))
  })

  it('tries again and again to grow although a quota is used up, with longer and longer pauses', () => {
    const { moments } = play({ demand: flat(4, 0), quota: 3, durationMs: hourMs })
    const refused = moments.flatMap(({ atMs, aligned }) => (aligned?.refusal === undefined ? [] : [atMs]))
    assert.ok(refused.length > 5 && refused.length < 30, JSON.stringify(refused))
    const pauses = refused.slice(1).map((atMs, at) => atMs - (refused[at] ?? 0))
    assert.deepEqual(
      pauses,
      pauses.toSorted((a, b) => a - b),
    )
    assert.equal(moments.at(-1)?.size, 3)
  })

  it('is the same again with the same seed', () => {
    const settings = worldOf(7)
    assert.deepEqual([...simulateAutoscale(settings)], [...simulateAutoscale(settings)])
  })

  it('is reported for each curve', function () {
    this.timeout(60_000)
    const curves = Object.values(CurveShape).map((shape) => ({ shape, name: shape, high: 4 }))
    const onBound = { shape: CurveShape.Flat, name: 'on a bound', high: 1.2 }
    const lines = [...curves.filter(({ shape }) => shape !== CurveShape.Flat), onBound].flatMap(
      ({ shape, name, high }) =>
        [0, 0.1].map((noise) => {
          const demand = loadCurve(shape, { low: 0.2, high, periodMs: 600_000, noise, seed: 1 })
          const { report } = play({ demand, durationMs: 1_800_000 })
          assert.ok(report.instanceSeconds > 0)
          return reportLine(`${name}${noise === 0 ? '' : ` ± ${noise * 100} %`}`, report)
        }),
    )
    process.stdout.write(`${lines.join('\n')}\n`)
  })
})

function reportLine(name: string, report: SimulationReport): string {
  const { spareInstanceSeconds, instanceSeconds, unservedShare, meanShortageMs, longestShortageMs } = report
  const spare = ((spareInstanceSeconds / instanceSeconds) * 100).toFixed(0)
  return (
    `      ${name.padEnd(18)} ${spare.padStart(3)} % spare, ${(unservedShare * 100).toFixed(2).padStart(5)} % unserved, ` +
    `enough after ${(meanShortageMs / 1_000).toFixed(1)} s (at most ${longestShortageMs / 1_000} s), ` +
    `${report.resizes} changes, ${report.directionChanges} of direction`
  )
}
