import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { heartbeatIntervalMs } from '../../domain/node-protocol.ts'
import type { NodeAssignment, NodeHeartbeat } from '../../domain/node-protocol.ts'
import type { AgentLog } from './agent-ports.ts'

/** The secret the API authenticates with; kept, so that an API that has not heard from the new agent can ask it already. */
export async function loadAgentSecret(agentDirectory: string): Promise<string> {
  const path = join(agentDirectory, 'agent-secret')
  const known = await readFile(path, 'utf8').catch(() => '')
  if (known !== '') return known
  const secret = randomBytes(32).toString('base64url')
  await writeFile(`${path}.tmp`, secret, { mode: 0o600 })
  await rename(`${path}.tmp`, path)
  return secret
}

/**
 * Tells the API every `heartbeatIntervalMs` that this host lives. The API's first answer assigns the network; it is kept on
 * disk, so that an agent that starts while the API is away looks after its VMs all the same.
 */
export class Registration {
  readonly #path: string
  readonly #beat: () => Promise<NodeAssignment>
  readonly #onReassigned: (assigned: NodeAssignment) => void
  readonly #log: AgentLog
  #inUse: NodeAssignment | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false
  /** True while the API answers; a change is logged, not every miss. */
  #heard: boolean | undefined

  constructor(options: {
    readonly agentDirectory: string
    readonly send: (beat: NodeHeartbeat) => Promise<NodeAssignment>
    readonly describe: () => NodeHeartbeat
    /** The API now assigns another network than the one this agent was told before: it can not go on with that. */
    readonly onReassigned: (assigned: NodeAssignment) => void
    readonly log: AgentLog
  }) {
    this.#onReassigned = options.onReassigned
    this.#path = join(options.agentDirectory, 'assignment.json')
    this.#beat = async () => await options.send(options.describe())
    this.#log = options.log
  }

  get heard(): boolean {
    return this.#heard === true
  }

  /** The assignment on disk, or else the first one the API gives, waited for without end. */
  async assignment(): Promise<NodeAssignment> {
    const known = await readFile(this.#path, 'utf8').catch(() => '')
    if (known !== '') {
      this.#inUse = JSON.parse(known) as NodeAssignment
      return this.#inUse
    }
    for (;;) {
      const assigned = await this.#beatOnce()
      if (assigned !== undefined) return assigned
      await new Promise((resolve) => setTimeout(resolve, heartbeatIntervalMs / 10))
    }
  }

  /** Beats at once and then at the interval, until `stop`. */
  start(): void {
    void this.#beatOnce().then(() => {
      if (this.#closed) return
      // Until the API is there for the first time it is asked often: its users wait for a host.
      const delayMs = this.heard ? heartbeatIntervalMs : heartbeatIntervalMs / 10
      this.#timer = setTimeout(() => {
        this.start()
      }, delayMs)
    })
  }

  stop(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  async #beatOnce(): Promise<NodeAssignment | undefined> {
    try {
      const assigned = await this.#beat()
      if (this.#heard !== true) {
        this.#log.info({ node: assigned.nodeId, subnet: assigned.subnet }, 'the API knows this host')
        await writeFile(`${this.#path}.tmp`, JSON.stringify(assigned))
        await rename(`${this.#path}.tmp`, this.#path)
      }
      this.#heard = true
      this.#inUse ??= assigned
      if (this.#inUse.subnet !== assigned.subnet) this.#onReassigned(assigned)
      return assigned
    } catch (error) {
      if (this.#heard !== false) this.#log.warn({ err: error }, 'the API does not answer this host')
      this.#heard = false
      return undefined
    }
  }
}
