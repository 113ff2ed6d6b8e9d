import type { MemberLoad } from '../../src/domain/autoscale/members.ts'
import type { HostLoads, LoadCounters } from '../../src/domain/host/api-protocol.ts'

/** The last reading of each instance on a host, with which the next answer is compared. */
export type Readings = ReadonlyMap<string, Reading>

interface Reading {
  /** The time of the reading by the host's clock. */
  readonly atMs: number
  readonly cpuTimeMs: number
  /** CPU use since the reading before. Absent if there is no reading to compare with. */
  readonly millicores?: number
}

export const noReadings: Readings = new Map()

/**
 * The shortest time between two readings that are compared. CPU time is counted in steps of 10 ms, so over
 * 500 ms a reading is exact to 2 %. An answer that comes sooner after a reading is left out.
 */
export const shortestSampleMs = 500
/**
 * The longest time between two readings that are compared. A mean over a longer time does not show the
 * present load.
 */
export const longestSampleMs = 5_000

/**
 * Reads one answer of a host. An instance has a load if its counters can be compared with an earlier answer.
 * This is not possible at its first answer, after a gap, after a restart of the host, or if the counters
 * went back, which may happen when an agent was killed.
 */
export function readSamples(
  before: Readings,
  answer: HostLoads,
): { readonly readings: Readings; readonly loads: ReadonlyMap<string, MemberLoad> } {
  const readings = new Map<string, Reading>()
  for (const [instanceUuid, reading] of before)
    if (mayFollow(reading, answer)) readings.set(instanceUuid, reading)
  const loads = new Map<string, MemberLoad>()
  for (const [instanceUuid, counters] of Object.entries(answer.loads)) {
    if (!isSound(answer.atMs, counters)) continue
    const reading = readAfter(readings.get(instanceUuid), answer.atMs, counters)
    readings.set(instanceUuid, reading)
    if (reading.millicores !== undefined) loads.set(instanceUuid, loadOf(reading.millicores, counters))
  }
  return { readings, loads }
}

/**
 * Whether an answer can be compared with an earlier reading. A clock that went back means that the machine
 * was restarted. After a gap of more than `longestSampleMs` a mean says too little.
 */
function mayFollow(reading: Reading, { atMs }: HostLoads): boolean {
  return atMs >= reading.atMs && atMs - reading.atMs <= longestSampleMs
}

function readAfter(before: Reading | undefined, atMs: number, { cpuTimeMs }: LoadCounters): Reading {
  if (before === undefined || cpuTimeMs < before.cpuTimeMs) return { atMs, cpuTimeMs }
  const overMs = atMs - before.atMs
  if (overMs < shortestSampleMs) return before
  return { atMs, cpuTimeMs, millicores: ((cpuTimeMs - before.cpuTimeMs) / overMs) * 1_000 }
}

function loadOf(millicores: number, { inFlight, handledPerSecond }: LoadCounters): MemberLoad {
  return { cpu: millicores, in_flight: inFlight, requests_per_second: handledPerSecond }
}

/**
 * Whether an answer has sound values. It came over the network, perhaps from an agent of another version.
 */
function isSound(atMs: number, counters: LoadCounters): boolean {
  const { cpuTimeMs, inFlight, handledPerSecond } = counters
  return [atMs, cpuTimeMs, inFlight, handledPerSecond].every((value) => Number.isFinite(value) && value >= 0)
}
