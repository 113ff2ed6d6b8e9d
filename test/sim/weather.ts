import type { World } from './world.ts'

/**
 * The times in ms between two events of each kind in one run, as rough means. With 0 the kind never happens.
 */
export interface Weather {
  readonly requestMs: number
  readonly connectionMs: number
  readonly commandMs: number
  readonly suspendMs: number
  /** Moves that are called off. */
  readonly moveMs: number
  readonly disabledMs: number
  readonly peerMs: number
  readonly agentDeathMs: number
  readonly gatewayDeathMs: number
  readonly lineMs: number
  readonly pauseMs: number
  readonly terminationMs: number
  readonly rebootMs: number
  readonly apiAwayMs: number
}

/** Faults that come together in some storms. Chance alone seldom brings them together. */
export const StormTheme = {
  /** Most starts fail, and some of their attempts reach the host late. */
  Starts: 'starts',
  /** Applications end soon, and the workflow and the gateways hear of everything late. */
  News: 'news',
  /**
   * A line is cut or stands still every 0.2 to 3 s on average. Many lines are cut with the message that
   * gives a lease back.
   */
  Lines: 'lines',
} as const

export function weatherOf({ dice }: World): Weather {
  const maybe = (probability: number, low: number, high: number): number =>
    dice.chance(probability) ? dice.stretched(low, high) : 0
  const isCalm = dice.chance(0.15)
  return {
    requestMs: maybe(0.9, 30, 10_000),
    connectionMs: maybe(0.5, 500, 20_000),
    commandMs: maybe(isCalm ? 0 : 0.5, 300, 30_000),
    suspendMs: maybe(0.3, 300, 20_000),
    disabledMs: maybe(0.3, 100, 10_000),
    peerMs: maybe(0.3, 100, 20_000),
    agentDeathMs: maybe(isCalm ? 0 : 0.35, 1_000, 40_000),
    rebootMs: maybe(isCalm ? 0 : 0.1, 5_000, 40_000),
    gatewayDeathMs: maybe(isCalm ? 0 : 0.35, 1_000, 30_000),
    lineMs: maybe(isCalm ? 0 : 0.5, 500, 20_000),
    pauseMs: maybe(isCalm ? 0 : 0.3, 500, 30_000),
    terminationMs: maybe(isCalm ? 0 : 0.2, 3_000, 30_000),
    apiAwayMs: maybe(isCalm ? 0 : 0.2, 1_000, 20_000),
    moveMs: maybe(0.5, 200, 10_000),
  }
}
