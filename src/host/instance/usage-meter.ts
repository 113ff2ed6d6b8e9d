import { setImmediate as nextTurn } from 'node:timers/promises'
import type { HostLoads, LoadCounters, UsageByInstance } from '../../domain/host/api-protocol.ts'
import type { Usage } from '../../domain/instance/usage.ts'
import type { AgentPorts } from '../agent/agent-ports.ts'
import type { InstanceEntry } from './entry.ts'
import type { InstanceLoads } from './loads.ts'
import { runs, totalUsage } from './record.ts'
import type { InstanceRecord } from './record.ts'
import { machineClockMs } from '../agent/machine-clock.ts'
import { sampleUsage } from './usage-sample.ts'

/**
 * How often usage is written to disk. A crash of the machine may lose the usage since the last sample. A
 * crash of the agent alone loses only the count of requests since then.
 */
export const sampleIntervalMs = 10_000

/**
 * How many CPU times are read in one go. Each read takes 10 us, so gateways and workflows wait for 2 ms at
 * most.
 */
const loadsAtOnce = 200

/** Answers what instances have used, and writes samples of it to disk. */
export class UsageMeter {
  readonly #ports: AgentPorts
  readonly #entries: ReadonlyMap<string, InstanceEntry>
  readonly #clockMs: () => number

  constructor(ports: AgentPorts, entries: ReadonlyMap<string, InstanceEntry>, clockMs = machineClockMs) {
    this.#ports = ports
    this.#entries = entries
    this.#clockMs = clockMs
  }

  /** The usage of the given instances, as far as this host knows them. */
  async usageOf(instanceUuids: readonly string[]): Promise<UsageByInstance> {
    const found = await Promise.all(
      instanceUuids.map(async (instanceUuid): Promise<readonly [string, Usage] | undefined> => {
        const entry = this.#entries.get(instanceUuid)
        if (entry?.record === undefined) return undefined
        const { record, loads } = entry
        const now = runs(record) ? { ...record, usageOfBoot: await sampleUsage(this.#ports, record) } : record
        const { wakes } = record
        const usage = { ...totalUsage(now), ...(wakes === undefined ? {} : { wakes }) }
        return [instanceUuid, { ...usage, ...loads.now(), handled: usage.handled + loads.handledMore }]
      }),
    )
    return Object.fromEntries(found.filter((pair) => pair !== undefined))
  }

  /**
   * See `HostLoads`. Only instances that run are in it: the counters of others stand still, and would look
   * like those of an instance with nothing to do.
   */
  async loadsOf(instanceUuids: readonly string[]): Promise<HostLoads> {
    const atMs = this.#clockMs()
    const loads: Record<string, LoadCounters> = {}
    for (const [index, instanceUuid] of instanceUuids.entries()) {
      if (index > 0 && index % loadsAtOnce === 0) await nextTurn()
      const entry = this.#entries.get(instanceUuid)
      const load = entry?.record === undefined ? undefined : this.#loadOf(entry.record, entry.loads)
      if (load !== undefined) loads[instanceUuid] = load
    }
    return { atMs, loads }
  }

  #loadOf(record: InstanceRecord, loads: InstanceLoads): LoadCounters | undefined {
    const { usageBefore, usageOfBoot, instanceUuid, boot } = record
    const ofVm = runs(record) ? this.#ports.vmm.cpuTimeMs({ instanceUuid, boot }) : undefined
    if (ofVm === undefined) return undefined
    return {
      cpuTimeMs: usageBefore.cpuTimeMs + Math.max(usageOfBoot.cpuTimeMs, ofVm),
      inFlight: loads.inFlight,
      handledPerSecond: loads.handledPerSecond,
    }
  }

  /** Samples the instances one after another. Samples are not urgent and must not delay starts. */
  async sampleAll(): Promise<void> {
    for (const entry of this.#entries.values()) {
      if (!runs(entry.record) && entry.loads.handledMore === 0) continue
      await entry.queue.run(async () => {
        const { record } = entry
        if (record === undefined || entry.removed) return
        const usageOfBoot = runs(record) ? await sampleUsage(this.#ports, record) : record.usageOfBoot
        const { handledMore } = entry.loads
        await entry.save({
          ...record,
          usageOfBoot: { ...usageOfBoot, handled: usageOfBoot.handled + handledMore },
        })
        entry.loads.written(handledMore)
      })
    }
  }
}
