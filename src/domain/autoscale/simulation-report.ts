import { observationIntervalMs } from './looks.ts'
import type { SimulatedMoment } from './simulation.ts'

/** The result of a simulation. An instance second is one instance for one second. */
export interface SimulationReport {
  readonly durationMs: number
  /** The instance seconds of all instances, including those that start or drain. */
  readonly instanceSeconds: number
  /** The instance seconds beyond the number at which the policies want no more. */
  readonly spareInstanceSeconds: number
  /** The instance seconds that were missing to reach the number at which the policies want no more. */
  readonly missingInstanceSeconds: number
  /** The share of the whole demand that was not served. */
  readonly unservedShare: number
  /** How many times there were fewer warmed-up instances than needed. */
  readonly shortages: number
  readonly longestShortageMs: number
  readonly meanShortageMs: number
  /** Whether the last shortage was not over at the end. */
  readonly endsShort: boolean
  /**
   * How many sizes were decided on; the next line counts those that reversed the direction of the one
   * before.
   */
  readonly resizes: number
  readonly directionChanges: number
  readonly smallestSize: number
  readonly largestSize: number
  readonly failures: number
}

/** Adds the moments up one by one, so that none has to be kept. */
export class SimulationTally {
  #moments = 0
  #held = 0
  #spare = 0
  #missing = 0
  #busy = 0
  #unserved = 0
  #shortages: number[] = []
  #isShort = false
  #directions: number[] = []
  #smallest = Infinity
  #largest = 0
  #failures = 0

  add(moment: SimulatedMoment): void {
    const { held, size, warm, needed, busy, unserved } = moment
    this.#moments += 1
    this.#held += held
    this.#spare += Math.max(0, held - needed)
    this.#missing += Math.max(0, needed - warm)
    this.#busy += busy
    this.#unserved += busy * unserved
    this.#smallest = Math.min(this.#smallest, size)
    this.#largest = Math.max(this.#largest, size)
    this.#noteShortage(warm < needed)
    this.#noteOutcome(moment)
  }

  get report(): SimulationReport {
    const seconds = observationIntervalMs / 1_000
    const shortages = this.#shortages
    const total = shortages.reduce((sum, ms) => sum + ms, 0)
    return {
      durationMs: Math.max(0, this.#moments - 1) * observationIntervalMs,
      instanceSeconds: this.#held * seconds,
      spareInstanceSeconds: this.#spare * seconds,
      missingInstanceSeconds: this.#missing * seconds,
      unservedShare: this.#busy === 0 ? 0 : this.#unserved / this.#busy,
      shortages: shortages.length,
      longestShortageMs: shortages.reduce((longest, ms) => Math.max(longest, ms), 0),
      meanShortageMs: shortages.length === 0 ? 0 : total / shortages.length,
      endsShort: this.#isShort,
      resizes: this.#directions.length,
      directionChanges: changesIn(this.#directions),
      smallestSize: this.#moments === 0 ? 0 : this.#smallest,
      largestSize: this.#largest,
      failures: this.#failures,
    }
  }

  #noteShortage(isShort: boolean): void {
    if (isShort) {
      if (!this.#isShort) this.#shortages.push(0)
      this.#shortages.push((this.#shortages.pop() ?? 0) + observationIntervalMs)
    }
    this.#isShort = isShort
  }

  #noteOutcome({ outcome, aligned }: SimulatedMoment): void {
    if (outcome?.kind === 'resize') this.#directions.push(Math.sign(outcome.target - outcome.decision.from))
    if (outcome?.kind === 'replace' || aligned?.refusal !== undefined) this.#failures += 1
  }
}

function changesIn(directions: readonly number[]): number {
  return directions.filter((direction, index) => index > 0 && direction !== directions[index - 1]).length
}
