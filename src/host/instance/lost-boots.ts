import { InstanceState } from '../../domain/instance/state.ts'
import type { NodeInstance } from '../../domain/host/api-protocol.ts'
import type { AgentLog } from '../agent/agent-ports.ts'
import type { HostEvents } from './event-outbox.ts'
import type { HostAgent } from '../agent/host-agent.ts'

/** What is in any other state has something asked of its host, and that brings to light what the host has. */
const restingStates: readonly InstanceState[] = [InstanceState.Running, InstanceState.Standby]

/**
 * Tells workflows of boots that run or sleep here by the API's word, and of which this host has nothing, as
 * after its directory was lost.
 *
 * A boot that the API lists in these states had its record here first: a record is written before its VM is
 * asked for, and before a sleep is answered. So a record that is missing now was lost, or was removed here
 * with its instance. To tell it again is harmless, so nothing is kept of what was told.
 */
export class LostBoots {
  readonly #agent: HostAgent
  readonly #events: HostEvents
  readonly #log: AgentLog
  readonly #nowMs: () => number

  constructor(options: {
    readonly agent: HostAgent
    readonly events: HostEvents
    readonly log: AgentLog
    readonly nowMs: () => number
  }) {
    this.#agent = options.agent
    this.#events = options.events
    this.#log = options.log
    this.#nowMs = options.nowMs
  }

  /**
   * Takes the API's list as it was just now. Never rejects: what can not be told now is found again with the
   * next list.
   */
  async tell(listed: readonly NodeInstance[]): Promise<void> {
    try {
      for (const { uuid, state, boot } of listed) {
        if (boot === undefined || !restingStates.includes(state) || this.#has(uuid, boot)) continue
        this.#log.warn({ instance: uuid, boot, state }, 'this host has nothing of a boot that it should have')
        await this.#events.tell(uuid, { kind: 'lost', boot, atMs: this.#nowMs() })
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'what was lost could not be told yet')
    }
  }

  #has(instanceUuid: string, boot: number): boolean {
    if (this.#agent.hasRemoved(instanceUuid)) return true
    const entry = this.#agent.entries.get(instanceUuid)
    if (entry === undefined) return false
    const { record, job, removed } = entry
    return removed || job !== undefined || (record !== undefined && record.boot >= boot)
  }
}
