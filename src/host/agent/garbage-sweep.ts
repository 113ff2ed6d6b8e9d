import type { NodeInstance } from '../../domain/host/api-protocol.ts'
import type { AgentPorts } from './agent-ports.ts'
import type { HostAgent } from './host-agent.ts'

export const garbageIntervalMs = 30_000
/**
 * How long an instance has to be missing from the API's list, and unchanged on this host, before it counts
 * as deleted.
 */
const garbageAgeMs = 60_000

/**
 * Removes instances that the API does not list for this host any more. They were deleted, but the activity
 * that removes them never reached this host. Only a successful answer of the API counts. An instance that is
 * being started, or that is missing for the first time, stays.
 */
export class GarbageSweep {
  readonly #agent: HostAgent
  readonly #ports: AgentPorts
  readonly #list: () => Promise<readonly NodeInstance[]>
  readonly #missingSinceMs = new Map<string, number>()

  constructor(options: {
    readonly agent: HostAgent
    readonly ports: AgentPorts
    readonly list: () => Promise<readonly NodeInstance[]>
  }) {
    this.#agent = options.agent
    this.#ports = options.ports
    this.#list = options.list
  }

  async sweep(): Promise<readonly string[]> {
    // The instances on this host are read before the API is asked. An instance that comes to this host in
    // the meantime may be missing from the API's answer, and must not be removed.
    const here = [...this.#agent.entries.keys()]
    const listed = new Set((await this.#list()).map((instance) => instance.uuid))
    const removed: string[] = []
    for (const instanceUuid of here) {
      if (listed.has(instanceUuid)) this.#missingSinceMs.delete(instanceUuid)
      else if (await this.#isOld(instanceUuid)) {
        this.#ports.log.info({ instance: instanceUuid }, 'an instance that the API does not know is removed')
        await this.#agent.remove({ instanceUuid })
        this.#missingSinceMs.delete(instanceUuid)
        removed.push(instanceUuid)
      }
    }
    return removed
  }

  async #isOld(instanceUuid: string): Promise<boolean> {
    const nowMs = this.#ports.nowMs()
    const since = this.#missingSinceMs.get(instanceUuid) ?? nowMs
    this.#missingSinceMs.set(instanceUuid, since)
    if (nowMs - since < garbageAgeMs || this.#agent.entries.get(instanceUuid)?.job !== undefined) return false
    const changed = await this.#ports.store.changedAtMs(instanceUuid)
    return changed === undefined || nowMs - changed >= garbageAgeMs
  }
}
