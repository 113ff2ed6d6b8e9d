import { isIP } from 'node:net'
import { hostAndPort, readHostAndPort } from '../../domain/host-and-port.ts'
import type { AgentLog } from '../agent/agent-ports.ts'

/** How long one look-up may take. The agent's start waits for the first one. */
const lookUpMs = 5_000

export interface OwnEndpointOptions {
  /** The address of this machine, or its name. */
  readonly host: string
  readonly port: number
  /** The endpoint by which the others knew this machine last. It is used until the name was looked up. */
  readonly before?: string | undefined
  /** The address of a name. */
  readonly lookUp: (name: string) => Promise<string>
  readonly log: AgentLog
  /** Absent: 5 s. Tests give another one. */
  readonly lookUpMs?: number
}

/**
 * Where the other machines of the mesh send to this one. WireGuard sends to addresses, so a name is looked
 * up. While that fails, the machine does everything else: its instances do not depend on a name.
 */
export class OwnEndpoint {
  readonly #options: OwnEndpointOptions
  #current: string | undefined
  #isFound = false
  #isToldOf = false

  constructor(options: OwnEndpointOptions) {
    this.#options = options
    const { host, port, before = '' } = options
    this.#isFound = isIP(host) !== 0
    if (this.#isFound) this.#current = hostAndPort({ host, port })
    else if (readHostAndPort(before)?.port === port) this.#current = before
  }

  /** Undefined while the name could never be looked up. */
  get current(): string | undefined {
    return this.#current
  }

  /** Looks the name up, until it was found once. Never rejects: a failure is logged, but only the first. */
  async look(): Promise<void> {
    if (this.#isFound) return
    const { host, port, log } = this.#options
    try {
      this.#current = hostAndPort({ host: await this.#addressOf(host), port })
      this.#isFound = true
      if (this.#isToldOf)
        log.info({ endpoint: this.#current }, `the name ${host} of this machine leads somewhere now`)
    } catch (error) {
      if (!this.#isToldOf) log.warn({ err: error, endpoint: this.#current }, unknownName(host))
      this.#isToldOf = true
    }
  }

  async #addressOf(name: string): Promise<string> {
    const limitMs = this.#options.lookUpMs ?? lookUpMs
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new Error(`no answer within ${limitMs / 1_000} s`)), limitMs)
    try {
      return await Promise.race([this.#options.lookUp(name), late.promise])
    } finally {
      clearTimeout(timer)
    }
  }
}

function unknownName(host: string): string {
  return (
    `the name of this machine, ${host}, could not be looked up, so other machines may not reach its instances: check its DNS, ` +
    'or give an address in place of the name; it will be tried again'
  )
}
