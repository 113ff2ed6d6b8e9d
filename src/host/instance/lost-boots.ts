import { InstanceState } from '../../domain/instance/state.ts'
import type { NodeInstance } from '../../domain/host/api-protocol.ts'
import type { AgentLog } from '../agent/agent-ports.ts'
import type { HostEvents } from './event-outbox.ts'
import type { HostAgent } from '../agent/host-agent.ts'

/**
 * The states in which the platform gives the host no order. In any other state it does, and learns from the
 * answer what the host has lost.
 */
const restingStates: readonly InstanceState[] = [InstanceState.Running, InstanceState.Standby]

/**
 * Reports boots that run or sleep here according to the API, but of which this host has nothing, for example
 * after its directory was lost.
 *
 * A boot that the API lists in these states had its record here first: a record is written before the VM is
 * asked for, and before a sleep is answered. So a record that is missing now was lost, or was removed here
 * with its instance. A second report is harmless, so nothing is kept about those that were made.
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
   * Takes the API's newest list. Never rejects: what can not be reported now is found again with the next
   * list.
   */
  async tell(listed: readonly NodeInstance[]): Promise<void> {
    try {
      for (const { uuid, state, boot } of listed) {
        if (boot === undefined || !restingStates.includes(state) || this.#has(uuid, boot)) continue
        this.#log.warn({ instance: uuid, boot, state }, 'this host has nothing of a boot that it should have')
        await this.#events.tell(uuid, { kind: 'lost', boot, atMs: this.#nowMs() })
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'lost boots could not be reported yet')
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
