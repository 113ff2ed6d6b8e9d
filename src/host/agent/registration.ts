import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { heartbeatIntervalMs } from '../../domain/host/api-protocol.ts'
import type { NodeAssignment, NodeHeartbeat } from '../../domain/host/api-protocol.ts'
import type { AgentLog } from './agent-ports.ts'
import { ApiError } from './api-client.ts'

/**
 * The secret that the host's id belongs to at the API, and that the API asks with. Made once: without it the
 * API takes this host for another one, so a file that can not be read is an error, and the file is on the
 * disk before the secret is used.
 */
export async function loadAgentSecret(agentDirectory: string): Promise<string> {
  const path = join(agentDirectory, 'agent-secret')
  const known = await readIfThere(path)
  if (known !== '') return known
  const secret = randomBytes(32).toString('base64url')
  await writeFile(`${path}.tmp`, secret, { mode: 0o600, flush: true })
  await rename(`${path}.tmp`, path)
  return secret
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/**
 * Tells the API every `heartbeatIntervalMs` that this host lives. The API's first answer assigns the network;
 * it is kept on disk, so that an agent that starts while the API is away looks after its VMs all the same.
 */
export class Registration {
  readonly #path: string
  readonly #nodeId: string
  readonly #beat: () => Promise<NodeAssignment>
  readonly #onReassigned: (assigned: NodeAssignment) => void
  readonly #onRefused: () => void
  readonly #log: AgentLog
  #inUse: NodeAssignment | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false
  /** True while the API answers. */
  #heard: boolean | undefined
  /** Why it does not; a change is logged, not every miss. */
  #complaint: string | undefined

  constructor(options: {
    readonly agentDirectory: string
    readonly nodeId: string
    readonly send: (beat: NodeHeartbeat) => Promise<NodeAssignment>
    readonly describe: () => Promise<NodeHeartbeat>
    /**
     * The API now assigns another network than the one this agent was told before: it can not go on with
     * that.
     */
    readonly onReassigned: (assigned: NodeAssignment) => void
    /**
     * The id that this agent has worked under belongs to another one: it must not go on taking that one's
     * work.
     */
    readonly onRefused: () => void
    readonly log: AgentLog
  }) {
    this.#nodeId = options.nodeId
    this.#onRefused = options.onRefused
    this.#onReassigned = options.onReassigned
    this.#path = join(options.agentDirectory, 'assignment.json')
    this.#beat = async () => await options.send(await options.describe())
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
      this.#complaint = undefined
      this.#inUse ??= assigned
      if (this.#inUse.subnet !== assigned.subnet) this.#onReassigned(assigned)
      return assigned
    } catch (error) {
      this.#heard = false
      this.#complain(error)
      if (this.#inUse !== undefined && statusOf(error) === idTaken) this.#onRefused()
      return undefined
    }
  }

  #complain(error: unknown): void {
    const complaint = complaintOf(error, this.#nodeId)
    if (complaint === this.#complaint) return
    this.#complaint = complaint
    this.#log.warn({ err: error }, complaint)
  }
}

const joinTokenUnknown = 401
const idTaken = 403

function complaintOf(error: unknown, nodeId: string): string {
  const status = statusOf(error)
  if (status === idTaken) {
    return (
      `another host has the id '${nodeId}': choose another one (ROOST_NODE_ID); or, if this is that host set up anew, ` +
      `let it in with \`roost node release ${nodeId}\``
    )
  }
  if (status === joinTokenUnknown) {
    return 'the API does not take the join token: ROOST_JOIN_TOKEN_FILE has to hold the one that the API has'
  }
  return 'the API does not answer this host'
}

function statusOf(error: unknown): number | undefined {
  return error instanceof ApiError ? error.status : undefined
}
