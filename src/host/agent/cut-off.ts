import { vmOf } from '../instance/boot-end.ts'
import type { InstanceEntry } from '../instance/entry.ts'
import type { AgentPorts } from './agent-ports.ts'

/**
 * Calls off every start that is under way, because the host was taken for lost: the instance may begin
 * elsewhere meanwhile. One that belongs to this host after all is asked for again.
 */
export function callOffStarts(entries: ReadonlyMap<string, InstanceEntry>): void {
  for (const { job } of entries.values()) job?.controller.abort()
}

/**
 * Ends every VM of a host that may run none, and resolves once all have ended. It does not wait for the
 * queues of instances, in which a start may pull an image for minutes: that start finds that the term is
 * over.
 */
export async function endAllVms(
  entries: ReadonlyMap<string, InstanceEntry>,
  { vmm }: Pick<AgentPorts, 'vmm'>,
): Promise<void> {
  const ends = [...entries.values()].map(async ({ record }) => {
    if (record !== undefined) await vmm.kill(vmOf(record), 'host-halted')
  })
  const failed = (await Promise.allSettled(ends)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
