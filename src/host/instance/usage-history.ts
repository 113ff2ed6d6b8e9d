import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { addToStep, divideGrowth, usageSteps } from '../../domain/instance/usage-history.ts'
import type { Growth, StepUsage, UsageStep } from '../../domain/instance/usage-history.ts'
import type { AgentPorts } from '../agent/agent-ports.ts'
import type { InstanceEntry } from './entry.ts'
import { runs, totalUsage } from './record.ts'
import type { InstanceRecord } from './record.ts'
import { decodeStep, encodeStep, placeOf, recordBytes, ringOf, stepsIn } from './usage-ring.ts'
import { sampleUsage } from './usage-sample.ts'

export const historyIntervalMs = usageSteps['5s'].lengthMs
/** Growth over a longer time is not recorded: nobody knows in which of its steps it was. */
const longestGrowthMs = 4 * historyIntervalMs
const fileName = 'usage.ring'
const allSteps = Object.keys(usageSteps) as readonly UsageStep[]

interface Seen {
  readonly atMs: number
  readonly record: InstanceRecord
  /** The usage of all boots. */
  readonly total: Growth
}

/**
 * The history of each instance's usage, in a file of fixed size in the instance's directory. Only instances
 * that run, or that ran at the last sample, cost more than a look into memory.
 */
export class UsageHistory {
  readonly #ports: Pick<AgentPorts, 'vmm' | 'network' | 'log' | 'store' | 'nowMs'>
  readonly #entries: ReadonlyMap<string, InstanceEntry>
  readonly #seen = new WeakMap<InstanceEntry, Seen>()
  /** The first samples only say where the next ones begin. What was used while nobody watched is a gap. */
  #hasBegun = false

  constructor(
    ports: Pick<AgentPorts, 'vmm' | 'network' | 'log' | 'store' | 'nowMs'>,
    entries: ReadonlyMap<string, InstanceEntry>,
  ) {
    this.#ports = ports
    this.#entries = entries
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
  }

  /** The steps of which something is known, the oldest first. */
  async read(instanceUuid: string, step: UsageStep): Promise<readonly StepUsage[]> {
    const { start, bytes } = ringOf(step)
    const path = join(this.#ports.store.directory(instanceUuid), fileName)
    const file = await unlessMissing(open(path))
    if (file === undefined) return []
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, start)
      return stepsIn(buffer.subarray(0, bytesRead), step, this.#ports.nowMs())
    } finally {
      await file.close()
    }
  }

  async #sample(entry: InstanceEntry): Promise<void> {
    const { record } = entry
    const before = this.#seen.get(entry)
    // A boot on its way is looked at once it has come up, so that its wake is not missed.
    if (record?.started === undefined || (!runs(record) && before?.record === record)) return
    const { handledMore } = entry.loads
    const usageOfBoot = runs(record) ? await sampleUsage(this.#ports, record) : record.usageOfBoot
    const usage = totalUsage({ ...record, usageOfBoot })
    const total = { ...usage, handled: usage.handled + handledMore, wakes: wakesOf(record) }
    const seen = { atMs: this.#ports.nowMs(), record, total }
    this.#seen.set(entry, seen)
    if (entry.removed || (before === undefined && !this.#hasBegun)) return
    // An instance that did not run at the last look has run since then at most. So has one that is new.
    const fromMs = before !== undefined && ranAt(before) ? before.atMs : seen.atMs - historyIntervalMs
    const ran = runs(record) || ranAt(before) || before?.record.boot !== record.boot
    if (!ran || fromMs >= seen.atMs || seen.atMs - fromMs > longestGrowthMs) return
    await this.#write(entry.instanceUuid, growth(before, seen), { fromMs, toMs: seen.atMs })
  }

  async #write(
    instanceUuid: string,
    grown: Growth,
    time: { readonly fromMs: number; readonly toMs: number },
  ): Promise<void> {
    const path = join(this.#ports.store.directory(instanceUuid), fileName)
    const file = await unlessMissing(open(path, constants.O_RDWR | constants.O_CREAT, 0o600))
    // The directory is gone: the instance was removed meanwhile.
    if (file === undefined) return
    try {
      for (const step of allSteps) {
        const { lengthMs } = usageSteps[step]
        for (const share of divideGrowth(grown, { ...time, lengthMs })) await addShare(file, step, share)
      }
    } finally {
      await file.close()
    }
  }
}

async function addShare(file: FileHandle, step: UsageStep, share: StepUsage): Promise<void> {
  const place = placeOf(step, share.atMs)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(recordBytes), 0, recordBytes, place)
  const sum = addToStep(decodeStep(buffer.subarray(0, bytesRead)), share)
  await file.write(encodeStep(sum), 0, recordBytes, place)
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
  }
}

function wakesOf({ wakes = {} }: InstanceRecord): number {
  return Object.values(wakes).reduce((sum, { count }) => sum + count, 0)
}

async function unlessMissing(file: Promise<FileHandle>): Promise<FileHandle | undefined> {
  try {
    return await file
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
