import type { MemberLoad } from '../../src/domain/autoscale/members.ts'
import type { HostLoads, LoadCounters } from '../../src/domain/host/api-protocol.ts'

/** What is kept of a host's answers, by instance: with what the next one is compared. */
export type Readings = ReadonlyMap<string, Reading>

interface Reading {
  /** By the host's clock. */
  readonly atMs: number
  readonly cpuTimeMs: number
  /** CPU since the reading before; absent where there is nothing to compare with. */
  readonly millicores?: number
}

export const noReadings: Readings = new Map()

/**
 * CPU time comes in steps of 10 ms, which are 2 % of this. Answers that follow each other closer count as
 * one.
 */
export const shortestSampleMs = 500
/** A mean over longer than this is not what is there now. */
export const longestSampleMs = 5_000

/**
 * One answer of a host. An instance has a load where the answer compares with one before: not at its first,
 * not after a gap or a restart of the host, and not where its counters went back, as they may when an agent
 * was killed.
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

/** The host's clock goes back with the machine, and one that leapt says nothing of what was in between. */
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

/** It came over a network from another version, perhaps. */
function isSound(atMs: number, counters: LoadCounters): boolean {
  const { cpuTimeMs, inFlight, handledPerSecond } = counters
  return [atMs, cpuTimeMs, inFlight, handledPerSecond].every((value) => Number.isFinite(value) && value >= 0)
}
