import type { UsageByInstance } from '../../domain/node-protocol.ts'
import type { Usage } from '../../domain/usage.ts'
import type { AgentPorts } from './agent-ports.ts'
import type { InstanceEntry } from './instance-entry.ts'
import { runs, totalUsage } from './instance-record.ts'
import { sampleUsage } from './usage-sample.ts'

/** What a crash of the machine may lose of the accounts; a crash of the agent alone loses nothing. */
export const sampleIntervalMs = 10_000

/** Answers what instances have used, and keeps a sample of it on disk. */
export class UsageMeter {
  readonly #ports: AgentPorts
  readonly #entries: ReadonlyMap<string, InstanceEntry>

  constructor(ports: AgentPorts, entries: ReadonlyMap<string, InstanceEntry>) {
    this.#ports = ports
    this.#entries = entries
  }

  /** Of those asked for that this host knows. */
  async usageOf(instanceUuids: readonly string[]): Promise<UsageByInstance> {
    const found = await Promise.all(
      instanceUuids.map(async (instanceUuid): Promise<readonly [string, Usage] | undefined> => {
        const record = this.#entries.get(instanceUuid)?.record
        if (record === undefined) return undefined
        if (!runs(record)) return [instanceUuid, totalUsage(record)]
        return [instanceUuid, totalUsage({ ...record, usageOfBoot: await sampleUsage(this.#ports, record) })]
      }),
    )
    return Object.fromEntries(found.filter((pair) => pair !== undefined))
  }

  /** One after another: it is in no hurry, and it must not get in the way of starts. */
  async sampleAll(): Promise<void> {
    for (const entry of this.#entries.values()) {
      if (!runs(entry.record)) continue
      await entry.queue.run(async () => {
        const { record } = entry
        if (runs(record)) await entry.save({ ...record, usageOfBoot: await sampleUsage(this.#ports, record) })
      })
    }
  }
}
