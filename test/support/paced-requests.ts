import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { until } from './until.ts'

/** A request that was not answered with 200. */
export interface FailedRequest {
  readonly beganMs: number
  readonly why: string
}

export interface PacedRequests {
  readonly answered: number
  readonly failed: readonly FailedRequest[]
  /** Resolves when as many requests as this were answered from now on. */
  more(requests: number): Promise<void>
  /** Sends no more requests, and waits for the answers that are due. */
  end(): Promise<void>
}

const perSecond = 200
const tickMs = 10
/** A request without an answer by then counts as lost. */
const answerLimitMs = 30_000
const keptConnections = 20
const failuresKept = 50

/**
 * Sends requests at a pace of its own, whatever the answers: as clients do that know nothing of each other.
 * With `keepAlive` they share some connections, each of which is used again and again; else each request has
 * a new one. No request is repeated.
 */
export function sendPaced(to: {
  readonly port: number
  readonly host: string
  readonly keepAlive: boolean
}): PacedRequests {
  const agent = new Agent(
    to.keepAlive ? { keepAlive: true, maxSockets: keptConnections, scheduling: 'fifo' } : {},
  )
  const failed: FailedRequest[] = []
  const open = new Set<Promise<void>>()
  let answered = 0
  const ask = async (): Promise<void> => {
    const beganMs = performance.now()
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const sent = request(
      { host: '127.0.0.1', port: to.port, agent, headers: { host: to.host }, timeout: answerLimitMs },
      resolve,
    )
    sent.on('error', reject).on('timeout', () => sent.destroy(new Error('no answer in time')))
    sent.end()
    try {
      const answer = await promise
      const body = await text(answer)
      if (answer.statusCode !== 200 || body !== 'hello') throw new Error(`${answer.statusCode} ${body}`)
      answered += 1
    } catch (error) {
      if (failed.length < failuresKept) failed.push({ beganMs, why: String(error) })
    }
  }
  const startedMs = performance.now()
  let sent = 0
  const pace = setInterval(() => {
    const due = ((performance.now() - startedMs) * perSecond) / 1_000
    for (; sent < due; sent++) {
      const one = ask().finally(() => open.delete(one))
      open.add(one)
    }
  }, tickMs)
  return {
    get answered() {
      return answered
    },
    failed,
    async more(requests) {
      const enough = answered + requests
      await until(`${requests} more answers`, () => answered >= enough, { limitMs: answerLimitMs })
    },
    async end() {
      clearInterval(pace)
      await Promise.all(open)
      agent.destroy()
    },
  }
}
