import { Agent, request as httpRequest } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Readable } from 'node:stream'
import { RegistryRefusal } from './registry-refusal.ts'

/** A request to the registry itself. */
export interface UpstreamCall {
  readonly method: string
  readonly path: string
  readonly headers: OutgoingHttpHeaders
  readonly body?: Readable | Buffer | undefined
}

export interface Upstream {
  /**
   * Resolves with the head of the answer. Rejects with a `RegistryRefusal`: the one with which reading the
   * body failed, or `UNAVAILABLE` if the registry does not answer.
   */
  send(call: UpstreamCall): Promise<IncomingMessage>
  close(): void
}

/** The most requests to the registry at a time; further requests wait. */
const maxSockets = 512
/**
 * How long the registry may be silent. If it was restarted during a push, it reads the blob of several GB
 * again before it answers.
 */
const silenceLimitMs = 300_000

export function createUpstream(url: string): Upstream {
  const { hostname, port } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets })
  return {
    async send({ method, path, headers, body }) {
      const sent = httpRequest({ agent, hostname, port, method, path, headers, timeout: silenceLimitMs })
      sent.on('timeout', () => sent.destroy(new Error('the registry was silent for too long')))
      const answered = Promise.withResolvers<IncomingMessage>()
      let hasAnswer = false
      sent.once('response', (answer) => {
        hasAnswer = true
        answered.resolve(answer)
      })
      sent.once('error', answered.reject)
      sent.once('close', () => answered.reject(new Error('the registry closed the connection')))
      if (body === undefined || Buffer.isBuffer(body)) {
        sent.end(body)
      } else {
        // The registry may answer before it has read the whole body, and the pipe to it breaks then. Its
        // answer counts, and the broken pipe does not.
        pipeline(body, sent).catch((error: unknown) => {
          answered.reject(error)
          if (!hasAnswer) sent.destroy()
        })
      }
      try {
        return await answered.promise
      } catch (error) {
        if (error instanceof RegistryRefusal) throw error
        throw new RegistryRefusal('UNAVAILABLE', 'the registry does not answer; try again')
      }
    },
    close: () => agent.destroy(),
  }
}

/** Headers that are about one connection, and not about the request. */
const ofConnection = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export function passedHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)))
}
