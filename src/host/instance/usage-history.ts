import { join } from 'node:path'
import { divideGrowth, usageSteps } from '../../domain/instance/usage-history.ts'
import type { Growth, StepUsage, UsageStep } from '../../domain/instance/usage-history.ts'
import type { AgentPorts } from '../agent/agent-ports.ts'
import type { InstanceEntry } from './entry.ts'
import { runs, totalUsage } from './record.ts'
import type { InstanceRecord } from './record.ts'
import type { ServiceUsage } from './service-usage.ts'
import { addToUsageFile, readUsageFile } from './usage-file.ts'
import { sampleUsage } from './usage-sample.ts'

export const historyIntervalMs = usageSteps['5s'].lengthMs
/** Growth over a longer time is not recorded: nobody knows in which of its steps it was. */
const longestGrowthMs = 4 * historyIntervalMs
const fileName = 'usage.ring'

interface Seen {
  readonly atMs: number
  readonly record: InstanceRecord
  /** The usage of all boots. */
  readonly total: Growth
}

/**
 * The history of each instance's usage, in a file of fixed size in the instance's directory, and with it that
 * of its service. Only instances that run, or that ran at the last sample, cost more than a look into memory.
 */
export class UsageHistory {
  readonly #ports: Pick<AgentPorts, 'vmm' | 'network' | 'log' | 'store' | 'nowMs'>
  readonly #entries: ReadonlyMap<string, InstanceEntry>
  readonly #services: ServiceUsage
  readonly #seen = new WeakMap<InstanceEntry, Seen>()
  /** The first samples only say where the next ones begin. What was used while nobody watched is a gap. */
  #hasBegun = false

  constructor(
    ports: Pick<AgentPorts, 'vmm' | 'network' | 'log' | 'store' | 'nowMs'>,
    entries: ReadonlyMap<string, InstanceEntry>,
    services: ServiceUsage,
  ) {
    this.#ports = ports
    this.#entries = entries
    this.#services = services
  }

  /** Samples the instances one after another, and does not wait for work that is under way on them. */
  async sampleAll(): Promise<void> {
    for (const entry of this.#entries.values()) {
      try {
        await this.#sample(entry)
      } catch (error) {
        this.#ports.log.warn({ instance: entry.instanceUuid, err: error }, 'usage could not be recorded')
      }
    }
    this.#hasBegun = true
    await this.#services.write()
  }

  /** The steps of which something is known, the oldest first. */
  async read(instanceUuid: string, step: UsageStep): Promise<readonly StepUsage[]> {
    return await readUsageFile(this.#path(instanceUuid), step, this.#ports.nowMs())
  }

  async #sample(entry: InstanceEntry): Promise<void> {
    const { record } = entry
    const before = this.#seen.get(entry)
    // A boot on its way is looked at once it has come up, so that its wake is not missed.
    if (record?.started === undefined || (!runs(record) && before?.record === record)) return
    const { handledMore, inFlightMs } = entry.loads
    const usageOfBoot = runs(record) ? await sampleUsage(this.#ports, record) : record.usageOfBoot
    const usage = totalUsage({ ...record, usageOfBoot })
    const total = { ...usage, handled: usage.handled + handledMore, wakes: wakesOf(record), inFlightMs }
    const seen = { atMs: this.#ports.nowMs(), record, total }
    this.#seen.set(entry, seen)
    if (entry.removed || (before === undefined && !this.#hasBegun)) return
    // An instance that did not run at the last look has run since then at most. So has one that is new.
    const fromMs = before !== undefined && ranAt(before) ? before.atMs : seen.atMs - historyIntervalMs
    const ran = runs(record) || ranAt(before) || before?.record.boot !== record.boot
    if (!ran || fromMs >= seen.atMs || seen.atMs - fromMs > longestGrowthMs) return
    const grown = growth(before, seen)
    const sharesBy = (step: UsageStep) =>
      divideGrowth(grown, { fromMs, toMs: seen.atMs, lengthMs: usageSteps[step].lengthMs })
    const shares = { '5s': sharesBy('5s'), '5m': sharesBy('5m') }
    // If the directory is gone, the instance was removed meanwhile.
    await addToUsageFile(this.#path(entry.instanceUuid), shares)
    this.#services.add(entry.instanceUuid, shares)
  }

  #path(instanceUuid: string): string {
    return join(this.#ports.store.directory(instanceUuid), fileName)
  }
}

function ranAt(seen: Seen | undefined): boolean {
  return runs(seen?.record)
}

/** Counters never fall. One that did, because a record was written between two reads, has not grown. */
function growth(before: Seen | undefined, now: Seen): Growth {
  const since = (name: keyof Growth): number => Math.max(0, now.total[name] - (before?.total[name] ?? 0))
  return {
    rssBytes: now.total.rssBytes,
    cpuTimeMs: since('cpuTimeMs'),
    rxBytes: since('rxBytes'),
    rxPackets: since('rxPackets'),
    txBytes: since('txBytes'),
    txPackets: since('txPackets'),
    handled: since('handled'),
    wakes: since('wakes'),
    inFlightMs: since('inFlightMs'),
  }
}

function wakesOf({ wakes = {} }: InstanceRecord): number {
  return Object.values(wakes).reduce((sum, { count }) => sum + count, 0)
}
