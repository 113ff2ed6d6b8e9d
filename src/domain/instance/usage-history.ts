/** The lengths of the steps of a usage history, and how many of them are kept. */
export const usageSteps = {
  /** One hour. */
  '5s': { lengthMs: 5_000, kept: 720 },
  /** 30 days. */
  '5m': { lengthMs: 300_000, kept: 8_640 },
} as const
export type UsageStep = keyof typeof usageSteps

/**
 * What an instance used in one step. A step in which nothing was seen of the instance has none of these: it
 * slept, was stopped, or its host or agent was away.
 */
export interface StepUsage {
  /** The beginning of the step: a multiple of its length since 1970. */
  readonly atMs: number
  /** For how much of the step the instance was watched. */
  readonly seenMs: number
  /** At the last sample in the step. */
  readonly rssBytes: number
  readonly cpuTimeMs: number
  readonly rxBytes: number
  readonly rxPackets: number
  readonly txBytes: number
  readonly txPackets: number
  /** The connections and requests that ended. */
  readonly handled: number
  readonly wakes: number
  /** The requests in flight, times how long they were: 3 of them for 5 s are 15 000. */
  readonly inFlightMs: number
}

/** What was used between two samples. The memory is that of the second one. */
export type Growth = Omit<StepUsage, 'atMs' | 'seenMs'>

type Changing = { -readonly [Name in keyof StepUsage]: StepUsage[Name] }

const counters = [
  'cpuTimeMs',
  'rxBytes',
  'rxPackets',
  'txBytes',
  'txPackets',
  'handled',
  'wakes',
  'inFlightMs',
] as const

/**
 * Divides a growth among the steps from the first sample to the second one, in proportion to the time. All
 * shares are whole, and together they are the growth.
 */
export function divideGrowth(
  growth: Growth,
  { fromMs, toMs, lengthMs }: { readonly fromMs: number; readonly toMs: number; readonly lengthMs: number },
): readonly StepUsage[] {
  const shares: StepUsage[] = []
  for (let atMs = stepOf(fromMs, lengthMs); atMs < toMs; atMs += lengthMs) {
    const beginMs = Math.max(atMs, fromMs)
    const endMs = Math.min(atMs + lengthMs, toMs)
    const until = (value: number, ms: number) => Math.round((value * (ms - fromMs)) / (toMs - fromMs))
    const share: Changing = { ...growth, atMs, seenMs: endMs - beginMs }
    for (const name of counters) share[name] = until(growth[name], endMs) - until(growth[name], beginMs)
    shares.push(share)
  }
  return shares
}

/** Adds a later usage of the same step. */
export function addToStep(before: StepUsage | undefined, more: StepUsage): StepUsage {
  if (before?.atMs !== more.atMs) return more
  const sum: Changing = { ...more, seenMs: before.seenMs + more.seenMs }
  for (const name of counters) sum[name] += before[name]
  return sum
}

/**
 * Adds up what several instances used in the same steps. `seenMs` is that of all together, so it says how
 * many of them ran.
 */
export function sumOfSteps(histories: Iterable<readonly StepUsage[]>): readonly StepUsage[] {
  const sums = new Map<number, Changing>()
  for (const history of histories) {
    for (const step of history) {
      const sum = sums.get(step.atMs)
      if (sum === undefined) {
        sums.set(step.atMs, { ...step })
        continue
      }
      for (const name of ['seenMs', 'rssBytes', ...counters] as const) sum[name] += step[name]
    }
  }
  return [...sums.values()].toSorted((one, other) => one.atMs - other.atMs)
}

/** The beginning of the step in which a time lies. */
export function stepOf(atMs: number, lengthMs: number): number {
  return Math.floor(atMs / lengthMs) * lengthMs
}
