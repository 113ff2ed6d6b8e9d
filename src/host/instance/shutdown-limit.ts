import { volumeWriteBackMs } from '../vmm/vmm.ts'
import type { InstanceRecord } from './record.ts'

/**
 * The guest kills the application after its grace; where it does not, its keeper ends it 5 s later. Past
 * this, the agent does.
 */
const slackMs = 6_000

/**
 * How long a guest may take to end. One that may write to its volume has to write back what it holds in
 * memory: killed before, it is lost.
 */
export function shutdownLimitMs(record: Pick<InstanceRecord, 'volume'>, graceMs: number): number {
  const writesBack = record.volume !== undefined && !record.volume.readonly
  return graceMs + slackMs + (writesBack ? volumeWriteBackMs : 0)
}
