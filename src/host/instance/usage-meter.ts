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
 * What a crash of the machine may lose of the accounts; one of the agent alone loses only what was handled
 * since.
 */
export const sampleIntervalMs = 10_000

/**
 * Of the CPU times read in one go, each of 10 us: what gateways and workflows wait for is not kept for
 * longer.
 */
const loadsAtOnce = 200

/** Answers what instances have used, and keeps a sample of it on disk. */
export class UsageMeter {
  readonly #ports: AgentPorts
  readonly #entries: ReadonlyMap<string, InstanceEntry>
  readonly #clockMs: () => number

  constructor(ports: AgentPorts, entries: ReadonlyMap<string, InstanceEntry>, clockMs = machineClockMs) {
    this.#ports = ports
    this.#entries = entries
    this.#clockMs = clockMs
  }

  /** Of those asked for that this host knows. */
  async usageOf(instanceUuids: readonly string[]): Promise<UsageByInstance> {
    const found = await Promise.all(
      instanceUuids.map(async (instanceUuid): Promise<readonly [string, Usage] | undefined> => {
        const entry = this.#entries.get(instanceUuid)
        if (entry?.record === undefined) return undefined
        const { record, loads } = entry
        const now = runs(record) ? { ...record, usageOfBoot: await sampleUsage(this.#ports, record) } : record
        const usage = totalUsage(now)
        return [instanceUuid, { ...usage, ...loads.now(), handled: usage.handled + loads.handledMore }]
      }),
    )
    return Object.fromEntries(found.filter((pair) => pair !== undefined))
  }

  /**
   * See `HostLoads`. The counters of one that does not run stand still, and would tell of an instance with
   * nothing to do.
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

  /** One after another: it is in no hurry, and it must not get in the way of starts. */
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
