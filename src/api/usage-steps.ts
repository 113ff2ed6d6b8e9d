import { requestError } from '../contract/errors.ts'
import type { RequestObject } from '../contract/request/parsed-request.ts'
import { stepOf, usageSteps } from '../domain/instance/usage-history.ts'
import type { StepUsage, UsageStep } from '../domain/instance/usage-history.ts'
import { timestamp } from './timestamp.ts'

export const defaultStep = '5s'
/** The most steps in one answer. They are about 2 MB of JSON. */
const maxSteps = usageSteps['5m'].kept

export interface UsageParameters {
  readonly step?: UsageStep
  readonly limit?: number
}

/** Throws if a request asks for more steps than one answer may have. */
export function requireFewSteps(objects: readonly RequestObject<UsageParameters>[]): void {
  const steps = objects.reduce(
    (sum, { parameters: { step = defaultStep, limit } }) => sum + (limit ?? usageSteps[step].kept),
    0,
  )
  if (steps > maxSteps) throw requestError('tooMuchUsage', { steps, count: objects.length, max: maxSteps })
}

/** The steps of the time that was asked for. */
export function presentSteps(
  known: readonly StepUsage[],
  { step = defaultStep, limit }: UsageParameters,
): ReturnType<typeof presentStep>[] {
  const { lengthMs, kept } = usageSteps[step]
  const afterMs = stepOf(Date.now(), lengthMs) - Math.min(limit ?? kept, kept) * lengthMs
  return known.filter(({ atMs }) => atMs > afterMs).map(presentStep)
}

function presentStep(usage: StepUsage) {
  return {
    at: timestamp(new Date(usage.atMs)),
    seen_ms: usage.seenMs,
    rss_bytes: usage.rssBytes,
    cpu_time_ms: usage.cpuTimeMs,
    rx_bytes: usage.rxBytes,
    rx_packets: usage.rxPackets,
    tx_bytes: usage.txBytes,
    tx_packets: usage.txPackets,
    nrequests: usage.handled,
    nwakes: usage.wakes,
    in_flight_ms: usage.inFlightMs,
  }
}
