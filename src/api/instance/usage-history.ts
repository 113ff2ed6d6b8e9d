import { requestError } from '../../contract/errors.ts'
import type { getInstanceUsage } from '../../contract/instance/operations.ts'
import { NodeUnavailable } from '../../control/host-client.ts'
import { stepOf, usageSteps } from '../../domain/instance/usage-history.ts'
import type { StepUsage } from '../../domain/instance/usage-history.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedInstance } from '../failed-entry.ts'
import { timestamp } from '../timestamp.ts'
import { forEachInstance } from './objects.ts'

const defaultStep = '5s'
/** The most steps in one answer. They are about 2 MB of JSON. */
const maxSteps = usageSteps['5m'].kept

/** What instances used step by step, read from the hosts that keep it. */
export function instancesUsage(deps: ApiDeps): Handler<typeof getInstanceUsage> {
  return async ({ objects }, call) => {
    const wanted = objects.map(
      ({ parameters: { step = defaultStep, limit } }) => limit ?? usageSteps[step].kept,
    )
    const steps = wanted.reduce((sum, each) => sum + each, 0)
    if (steps > maxSteps) throw requestError('tooMuchUsage', { steps, count: objects.length, max: maxSteps })
    const entries = await forEachInstance(deps, call, objects, async (row, { step = defaultStep, limit }) => {
      const { lengthMs, kept } = usageSteps[step]
      try {
        const known = await deps.nodes.readHistory(row, step)
        const afterMs = stepOf(Date.now(), lengthMs) - Math.min(limit ?? kept, kept) * lengthMs
        const usage = known.filter(({ atMs }) => atMs > afterMs).map(presentStep)
        return { status: 'success' as const, uuid: row.uuid, name: row.name, step, usage }
      } catch (error) {
        if (!(error instanceof NodeUnavailable)) throw error
        call.log.warn({ err: error, instance: row.uuid }, 'the host does not answer')
        return failedInstance(row, 'hostUnreachable')
      }
    })
    return { entries }
  }
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
  }
}
