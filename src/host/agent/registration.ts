import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  fullHeartbeatEvery,
  heartbeatIntervalMs,
  heartbeatRetryMs,
  idTakenText,
} from '../../domain/host/api-protocol.ts'
import type { ToldMesh } from '../../domain/host/mesh.ts'
import type { NodeAssignment, NodeHeartbeat } from '../../domain/host/api-protocol.ts'
import { isJsonObject, parseJson } from '../../domain/json-text.ts'
import { otherVersion } from '../../domain/protocols.ts'
import { replaceFile } from '../../primitives/replace-file.ts'
import type { AgentLog } from './agent-ports.ts'
import { ApiError } from './api-client.ts'
import type { HostTerm } from './host-term.ts'

/**
 * Returns the agent's secret, and makes it at the first start. The API ties the host's id to this secret,
 * and sends it with its own requests to the host. Without the secret the API takes this host for another
 * one. So a file that can not be read is an error, and a new secret is on the disk before it is used.
 */
export async function loadAgentSecret(agentDirectory: string): Promise<string> {
  const path = join(agentDirectory, 'agent-secret')
  const known = await readIfThere(path)
  if (known !== '') return known
  const secret = randomBytes(32).toString('base64url')
  await replaceFile(path, secret, { mode: 0o600, durable: true })
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

/** The pauses between two heartbeats: as a rule, and while the API does not answer. */
interface HeartbeatPauses {
  readonly intervalMs: number
  readonly retryMs: number
}

const protocolPauses: HeartbeatPauses = { intervalMs: heartbeatIntervalMs, retryMs: heartbeatRetryMs }

/** The host's term, as heartbeats tell it (`HostTerm`). */
export type HeartbeatTerm = Pick<HostTerm, 'tell' | 'take' | 'missed'>

/**
 * Reports to the API every `heartbeatIntervalMs` that this host lives. The API's first answer assigns the
 * host's network. The assignment is kept on disk, so that an agent can look after its VMs even if it starts
 * while the API is unreachable.
 */
export class Registration {
  readonly #path: string
  readonly #nodeId: string
  readonly #send: (beat: NodeHeartbeat) => Promise<NodeAssignment>
  readonly #describe: (isFull: boolean) => Promise<NodeHeartbeat>
  readonly #onReassigned: (assigned: NodeAssignment) => void
  readonly #onRefused: () => void
  readonly #isJoined: boolean
  readonly #onMesh: ((told: ToldMesh) => Promise<void>) | undefined
  readonly #log: AgentLog
  readonly #pauses: HeartbeatPauses
  #inUse: NodeAssignment | undefined
  /** Absent until the agent knows its VMs. Until then heartbeats tell no term. */
  #term: HeartbeatTerm | undefined
  /** Whether the last answer asks for the next heartbeat at once. */
  #isUrgent = false
  #timer: NodeJS.Timeout | undefined
  #closed = false
  /** Whether the API answered the last heartbeat. It is undefined before the first one has ended. */
  #heard: boolean | undefined
  /** How many heartbeats are due before the next full one. The API may not have what it did not answer. */
  #untilFull = 0
  /** Why the API does not answer. Only a change of the reason is logged, not every heartbeat that fails. */
  #complaint: string | undefined

  constructor(options: {
    readonly agentDirectory: string
    readonly nodeId: string
    readonly send: (beat: NodeHeartbeat) => Promise<NodeAssignment>
    /** Describes the host. Only what a full heartbeat has may take time. */
    readonly describe: (isFull: boolean) => Promise<NodeHeartbeat>
    /** Called when the API assigns another network than before. The agent can not go on with the old one. */
    readonly onReassigned: (assigned: NodeAssignment) => void
    /** Called when the mesh is another one than the heartbeat said. */
    readonly onMesh?: (told: ToldMesh) => Promise<void>
    /** Called when this agent's id belongs to another host by now. The agent must stop taking its work. */
    readonly onRefused: () => void
    /** Whether the host joined by an invitation, so that the API knows it by its certificate. */
    readonly isJoined?: boolean
    readonly log: AgentLog
    /** Absent: those of the protocol. */
    readonly pauses?: HeartbeatPauses
  }) {
    this.#onMesh = options.onMesh
    this.#isJoined = options.isJoined ?? false
    this.#pauses = options.pauses ?? protocolPauses
    this.#nodeId = options.nodeId
    this.#onRefused = options.onRefused
    this.#onReassigned = options.onReassigned
    this.#path = join(options.agentDirectory, 'assignment.json')
    this.#send = options.send
    this.#describe = options.describe
    this.#log = options.log
  }

  get heard(): boolean {
    return this.#heard === true
  }

  /**
   * Returns the assignment on disk, or else waits without limit for the first one from the API. A file that
   * holds no assignment is reported, and counts as none.
   */
  async assignment(): Promise<NodeAssignment> {
    const known = await readFile(this.#path, 'utf8').catch(() => '')
    if (known !== '') {
      this.#inUse = assignmentIn(known)
      if (this.#inUse !== undefined) return this.#inUse
      this.#log.warn(
        { file: this.#path },
        'the file holds no assignment of a network: the API is asked for it',
      )
    }
    for (;;) {
      const assigned = await this.#beatOnce()
      if (assigned !== undefined) return assigned
      await new Promise((resolve) => setTimeout(resolve, this.#pauses.retryMs))
    }
  }

  /** From now on heartbeats tell this term, and their answers renew it. */
  keepTerm(term: HeartbeatTerm): void {
    this.#term = term
  }

  /** Sends a heartbeat at once and then at every interval, until `stop`. */
  start(): void {
    void this.#beatOnce().then(() => {
      if (this.#closed) return
      const pauseMs = this.heard ? this.#pauses.intervalMs : this.#pauses.retryMs
      const delayMs = this.#isUrgent ? 0 : pauseMs
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
      const isFull = this.#untilFull === 0
      const assigned = await this.#beat(isFull)
      this.#untilFull = isFull ? fullHeartbeatEvery - 1 : this.#untilFull - 1
      if (this.#heard !== true) {
        this.#log.info({ node: assigned.nodeId, subnet: assigned.subnet }, 'the API knows this host')
        await replaceFile(this.#path, JSON.stringify(assigned))
      }
      this.#heard = true
      this.#complaint = undefined
      this.#inUse ??= assigned
      if (this.#inUse.subnet !== assigned.subnet) this.#onReassigned(assigned)
      if (assigned.mesh !== undefined) await this.#takeMesh(assigned.mesh)
      return assigned
    } catch (error) {
      this.#heard = false
      this.#untilFull = 0
      await this.#term?.missed()
      this.#complain(error)
      if (this.#inUse !== undefined && this.#isRefusal(statusOf(error))) this.#onRefused()
      return undefined
    }
  }

  /** The term is told last: it counts from the moment when the heartbeat is sent. */
  async #beat(isFull: boolean): Promise<NodeAssignment> {
    this.#isUrgent = false
    const beat = await this.#describe(isFull)
    const term = this.#term
    if (term === undefined) return await this.#send(beat)
    const told = await term.tell()
    const { termMs, loss } = told
    const answer = await this.#send({ ...beat, loss, ...(termMs !== undefined && { termMs }) })
    this.#isUrgent = await term.take(told, answer)
    return answer
  }

  async #takeMesh(told: ToldMesh): Promise<void> {
    try {
      await this.#onMesh?.(told)
    } catch (error) {
      this.#log.warn({ err: error }, 'this host could not take its place in the mesh; it will be tried again')
    }
  }

  #isRefusal(status: number | undefined): boolean {
    return status === idTaken || (status === unknownHere && this.#isJoined)
  }

  #complain(error: unknown): void {
    const complaint = complaintOf(error, this.#nodeId, this.#isJoined)
    if (complaint === this.#complaint) return
    this.#complaint = complaint
    this.#log.warn({ err: error }, complaint)
  }
}

function assignmentIn(text: string): NodeAssignment | undefined {
  const json = parseJson(text)
  if (!isJsonObject(json)) return undefined
  const { nodeId, subnet } = json
  return typeof nodeId === 'string' && typeof subnet === 'string' ? { nodeId, subnet } : undefined
}

/** The answer to a join token that is not the API's, and to a machine that did not join or was removed. */
const unknownHere = 401
const idTaken = 403

function complaintOf(error: unknown, nodeId: string, isJoined: boolean): string {
  const status = statusOf(error)
  if (status === unknownHere && isJoined) {
    return `this machine, '${nodeId}', is not a host of the installation any more: \`roost host invite\` prints how it joins again`
  }
  if (status === idTaken && isJoined) {
    return (
      `the installation does not take this machine as host '${nodeId}': if its certificate is that of another host, ` +
      '`npx roost join` without arguments runs it as that one; if its agent directory is new, let it in with ' +
      `\`roost admin node release ${nodeId}\``
    )
  }
  if (status === idTaken) return idTakenText(nodeId)
  if (status === unknownHere) {
    return "the API does not accept the join token: ROOST_JOIN_TOKEN_FILE must hold a copy of the API's join token"
  }
  if (status === otherVersion) return `the API refuses this host: ${(error as Error).message}`
  return 'the API does not answer this host'
}

function statusOf(error: unknown): number | undefined {
  return error instanceof ApiError ? error.status : undefined
}
