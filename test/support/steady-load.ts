import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { PublicNames } from './public-names.ts'

/** A client of `official/busy` or another application that names itself in the first word of its answers. */
export interface LoadClient {
  readonly path: string
  /** If set, each request has a connection and a handshake of its own. */
  readonly fresh?: boolean
  /** The pause between an answer and the next request. */
  readonly pauseMs: number
}

/** Clients that each send one request after the other, until `end` is called. */
export interface SteadyLoad {
  /** The number of answers of each instance since `forget`. */
  readonly answers: ReadonlyMap<string, number>
  forget(): void
  /**
   * Ends the clients. Resolves when the requests in flight are answered. Throws if a request was not
   * answered with 200.
   */
  end(): Promise<void>
}

/** The time limit of a request. A request without an answer by then counts as lost. */
const answerLimitMs = 60_000
/** How many failures are kept. The first ones are enough, and to compare thousands would take all memory. */
const failuresKept = 20
/**
 * The pause after a failure. The failure for a host that is away comes at once, so a client without a pause
 * would send thousands of requests a second.
 */
const refusedPauseMs = 100

/** The functions that end the loads under way, one for each load. */
const underWay = new Set<() => Promise<unknown>>()

/**
 * Ends the loads that a failed test left behind. Otherwise they would send requests for ever, and the group
 * of tests would not end.
 */
export async function endLoads(): Promise<void> {
  await Promise.all([...underWay].map((end) => end()))
}

export function beginLoad(names: PublicNames, host: string, clients: readonly LoadClient[]): SteadyLoad {
  const answers = new Map<string, number>()
  const failures: string[] = []
  let failed = 0
  const fail = (text: string): void => {
    failed += 1
    if (failures.length < failuresKept) failures.push(text)
  }
  const ending = new AbortController()
  /** Sends one request. Returns whether it was answered. */
  const ask = async ({ path, fresh }: LoadClient): Promise<boolean> => {
    const at = new Date().toISOString()
    try {
      const { status, text } =
        fresh === true
          ? await freshAnswer(names, host, path)
          : await names.get(`https://${host}${path}`, { limitMs: answerLimitMs })
      if (status !== 200) {
        fail(`${at} ${path}: ${status} ${text}`)
        return false
      }
      const who = text.split(/\s/, 1)[0] ?? ''
      answers.set(who, (answers.get(who) ?? 0) + 1)
      return true
    } catch (error) {
      fail(`${at} ${path}${fresh === true ? ', fresh' : ''}: ${String(error)}`)
      return false
    }
  }
  const work = clients.map(async (client) => {
    while (!ending.signal.aborted) {
      const pauseMs = (await ask(client)) ? client.pauseMs : refusedPauseMs
      await delay(pauseMs, undefined, { signal: ending.signal }).catch(() => undefined)
    }
  })
  const stop = async (): Promise<void> => {
    underWay.delete(stop)
    ending.abort()
    await Promise.all(work)
  }
  underWay.add(stop)
  return {
    answers,
    forget: () => answers.clear(),
    async end() {
      await stop()
      assert.equal(failed, 0, `${failed} requests were not answered, these first:\n${failures.join('\n')}`)
      assert.ok(answers.size > 0, 'nothing was asked')
    },
  }
}

async function freshAnswer(
  names: PublicNames,
  host: string,
  path: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const socket = await names.connect(host, 443)
  socket.setTimeout(answerLimitMs, () => socket.destroy(new Error('no answer in time')))
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  let answer = ''
  for await (const piece of socket.setEncoding('latin1')) answer += String(piece)
  const [head = '', text = ''] = answer.split('\r\n\r\n', 2)
  const length = /^content-length: (\d+)$/im.exec(head)?.[1]
  assert.equal(text.length, Number(length), `an answer that is cut off: ${JSON.stringify(answer)}`)
  return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]), text }
}
