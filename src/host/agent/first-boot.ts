import type { HostAgent } from './host-agent.ts'

const firstBoot = 1

/**
 * Begins the first boot of an instance that was just created, before its workflow asks for it. The
 * workflow's call joins the start, or finds its result; it decides all that follows, and it alone writes
 * states. If anything was ever asked of this host about the instance, this does nothing: then the workflow
 * has spoken, and it may have stopped or removed the instance meanwhile. An agent that has begun since then
 * does not know what was asked. So the start also ends if the row is not `starting` any more. Resolves with
 * whether the instance is up. Never rejects, because the workflow's call reports a failure.
 */
export async function beginFirstBoot(
  agent: Pick<HostAgent, 'entries' | 'hasRemoved' | 'start'>,
  instanceUuid: string,
): Promise<boolean> {
  if (agent.entries.has(instanceUuid) || agent.hasRemoved(instanceUuid)) return false
  try {
    const { exit } = await agent.start({ instanceUuid, boot: firstBoot, early: true })
    return exit === undefined
  } catch {
    return false
  }
}
