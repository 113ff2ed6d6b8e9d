import { eachMetric } from './looks.ts'
import type { MetricValues } from './proposal.ts'

/**
 * The load on all instances of a service together, over time. Pure: the same moment always has the same load.
 */
export type LoadCurve = (atMs: number) => number

/** What is asked of all instances of a service together, for each metric. */
export type Demand = (atMs: number) => MetricValues

/**
 * The demand that keeps so many instances busy with nothing else: at 2.5 it is what two and a half of them
 * can serve, of each metric.
 */
export function demandOf(busy: LoadCurve, capacities: MetricValues): Demand {
  return (atMs) => {
    const instances = busy(atMs)
    return eachMetric((metric) => instances * capacities[metric])
  }
}

export const CurveShape = {
  /** Low for a quarter of the period, high for half of it, and low again. */
  Step: 'step',
  /** From low to high within half a period, and back. */
  Ramp: 'ramp',
  Sine: 'sine',
  /** Low, with a tenth of each period high. */
  Spike: 'spike',
  /** A random value between low and high, another one in each second. */
  Noise: 'noise',
  /** Always high. With it, a load can put a metric exactly on a bound. */
  Flat: 'flat',
} as const
export type CurveShape = (typeof CurveShape)[keyof typeof CurveShape]

export interface CurveOptions {
  readonly low: number
  readonly high: number
  readonly periodMs: number
  /**
   * The largest share of the load that is randomly added or taken away. The random share changes every
   * second.
   */
  readonly noise?: number
  readonly seed: number
}

export function loadCurve(shape: CurveShape, options: CurveOptions): LoadCurve {
  const { low, high, periodMs, noise = 0, seed } = options
  const dice = (atMs: number, what: number): number => diceAt(seed, Math.floor(atMs / 1_000), what)
  return (atMs) => {
    const height = heights[shape]((atMs % periodMs) / periodMs, () => dice(atMs, 1))
    const load = low + (high - low) * height
    return noise === 0 ? load : Math.max(0, load * (1 + noise * (2 * dice(atMs, 2) - 1)))
  }
}

/**
 * Plays back a recorded load. Between two points, the load is that of the earlier point. `points` are in
 * the order of time, and there is at least one.
 */
export function recordedLoad(points: readonly { readonly atMs: number; readonly load: number }[]): LoadCurve {
  return (atMs) => {
    let [low, high] = [0, points.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((points[middle]?.atMs ?? Infinity) <= atMs) low = middle + 1
      else high = middle
    }
    return points[Math.max(0, low - 1)]?.load ?? 0
  }
}

/** The height of each shape, from 0 to 1, at a place in the period from 0 to 1. */
const heights = {
  [CurveShape.Step]: (place) => (place >= 0.25 && place < 0.75 ? 1 : 0),
  [CurveShape.Ramp]: (place) => 1 - Math.abs(2 * place - 1),
  [CurveShape.Sine]: (place) => (1 - Math.cos(2 * Math.PI * place)) / 2,
  [CurveShape.Spike]: (place) => (place >= 0.45 && place < 0.55 ? 1 : 0),
  [CurveShape.Noise]: (_place, roll) => roll(),
  [CurveShape.Flat]: () => 1,
} satisfies Record<CurveShape, (place: number, roll: () => number) => number>

/**
 * Returns a number from 0 to below 1 that looks random, but depends on the arguments alone. It is the
 * finaliser of murmur3 over them.
 */
export function diceAt(seed: number, moment: number, what: number): number {
  let mixed = Math.imul(seed, 0x9e3779b1) ^ Math.imul(moment, 0x85ebca6b) ^ Math.imul(what, 0xc2b2ae35)
  for (let round = 0; round < 2; round++) {
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    mixed ^= mixed >>> 16
    mixed = (mixed + 0x6d2b79f5) | 0
  }
  return (mixed >>> 0) / 4_294_967_296
}
