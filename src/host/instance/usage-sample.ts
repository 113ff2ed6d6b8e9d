import type { Usage } from '../../domain/instance/usage.ts'
import type { NicCounters } from '../network/network.ts'
import type { AgentPorts } from '../agent/agent-ports.ts'
import type { InstanceRecord } from './record.ts'

const noCounters: NicCounters = { rxBytes: 0, rxPackets: 0, txBytes: 0, txPackets: 0 }

/**
 * What this boot has used so far. A counter is never less than in an earlier sample: if its source is gone,
 * its last value stays.
 */
export async function sampleUsage(
  ports: Pick<AgentPorts, 'vmm' | 'network' | 'log'>,
  record: InstanceRecord,
): Promise<Usage> {
  const before = record.usageOfBoot
  const [vm, nic] = await Promise.all([
    ports.vmm
      .usage({ instanceUuid: record.instanceUuid, boot: record.boot })
      .catch(unavailable(ports, record)),
    ports.network.counters(record.nic).catch(unavailable(ports, record)),
  ])
  const base = record.nicBase ?? noCounters
  const since = (key: keyof NicCounters): number =>
    nic === undefined ? before[key] : Math.max(before[key], nic[key] - base[key])
  return {
    ...before,
    rssBytes: vm?.rssBytes ?? before.rssBytes,
    cpuTimeMs: Math.max(before.cpuTimeMs, vm?.cpuTimeMs ?? 0),
    rxBytes: since('rxBytes'),
    rxPackets: since('rxPackets'),
    txBytes: since('txBytes'),
    txPackets: since('txPackets'),
  }
}

function unavailable(ports: Pick<AgentPorts, 'log'>, record: InstanceRecord): (error: unknown) => undefined {
  return (error) => {
    ports.log.warn({ instance: record.instanceUuid, err: error }, 'usage could not be read')
    return undefined
  }
}
