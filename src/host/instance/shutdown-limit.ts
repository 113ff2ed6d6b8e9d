import { volumeWriteBackMs } from '../vmm/vmm.ts'
import type { InstanceRecord } from './record.ts'

/**
 * How long after the grace the agent ends the VM. The guest kills the application when the grace is over. If
 * the guest does not end, its keeper ends the VM 5 s after the grace.
 */
const slackMs = 6_000

/**
 * How long a guest may take to end. A guest with a writable volume has to write back what it holds in
 * memory; a kill before that loses it.
 */
export function shutdownLimitMs(record: Pick<InstanceRecord, 'volume'>, graceMs: number): number {
  const writesBack = record.volume !== undefined && !record.volume.readonly
  return graceMs + slackMs + (writesBack ? volumeWriteBackMs : 0)
}
