import { sameSecret } from '../same-secret.ts'

interface KnownAgent {
  readonly secret: string
  /** The sealed text in the host's row that was opened, and found to hold the secret. */
  readonly sealed: string
}

/**
 * The agents whose secrets a process has compared with the rows of their hosts. A heartbeat comes every
 * second from each host; as long as the row has the same sealed text, its secret need not be opened again.
 * There is at most one entry for each host that was ever heard.
 */
export class KnownAgents {
  readonly #byHost = new Map<string, KnownAgent>()

  /** The sealed text that the host's row has if the host still belongs to the agent with this secret. */
  sealedOf(hostId: string, secret: string): string | undefined {
    const known = this.#byHost.get(hostId)
    return known !== undefined && sameSecret(known.secret, secret) ? known.sealed : undefined
  }

  remember(hostId: string, agent: KnownAgent): void {
    this.#byHost.set(hostId, agent)
  }

  forget(hostId: string): void {
    this.#byHost.delete(hostId)
  }
}
