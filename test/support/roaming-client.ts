import { readFileSync } from 'node:fs'
import type { Dispatcher } from 'undici'
import { Agent, request } from 'undici'
import type { LaneNames } from './lane-traffic.ts'
import { connectorTo, metroAuthorityFile } from './public-names.ts'
import type { PublicAnswer } from './public-names.ts'
import type { Stack } from './stack.ts'

const limitMs = 60_000
/** The connection was closed, or reset. */
const closedCodes = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']

/**
 * A client that knows the addresses of several gateways. If no connection can be made at an address, it tries
 * the next. A GET whose connection was closed before the answer began is sent once more, over a new
 * connection. Every second request has a connection of HTTP/1.1 of its own, and the others share connections
 * of HTTP/2.
 */
export class RoamingClient implements LaneNames {
  /** How many connections could not be made at each address. */
  readonly refused = new Map<string, number>()
  /** How many requests were sent once more. */
  repeated = 0
  isClosed = false
  #sent = 0
  readonly #kept: Agent
  readonly #fresh: Agent

  /** The first of the addresses, which each new connection tries first. */
  readonly preferred: string

  constructor(stack: Stack, addresses: readonly [string, ...string[]]) {
    this.preferred = addresses[0]
    const to = {
      addresses,
      ca: readFileSync(metroAuthorityFile(stack), 'utf8'),
      onRefused: (address: string) => void this.refused.set(address, (this.refused.get(address) ?? 0) + 1),
    }
    const common = { headersTimeout: limitMs, connections: 256 }
    this.#kept = new Agent({ ...common, connect: connectorTo(to) })
    this.#fresh = new Agent({ ...common, connect: connectorTo({ ...to, allowH2: false }), pipelining: 0 })
  }

  async get(url: string): Promise<PublicAnswer> {
    const { statusCode, headers, body } = await this.#answerTo(url)
    return { status: statusCode, headers, text: await body.text() }
  }

  async close(): Promise<void> {
    this.isClosed = true
    await Promise.all([this.#kept.close(), this.#fresh.close()])
  }

  /** Resolves once the answer has begun. */
  async #answerTo(url: string): Promise<Dispatcher.ResponseData> {
    const signal = AbortSignal.timeout(limitMs)
    const dispatcher = this.#sent++ % 2 === 0 ? this.#kept : this.#fresh
    try {
      return await request(url, { dispatcher, signal })
    } catch (error) {
      const { code = '' } = error as { readonly code?: string }
      if (!closedCodes.includes(code)) throw error
      this.repeated += 1
      return await request(url, { dispatcher: this.#fresh, signal })
    }
  }
}
