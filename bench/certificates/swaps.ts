import { setTimeout as delay } from 'node:timers/promises'
import { quantile } from '../load.ts'
import type { Finding } from '../report.ts'
import { certificateLine } from './certificate-lines.ts'
import type { FeedGateway } from './feed-gateway.ts'
import type { HandshakeClient } from './handshake-client.ts'
import type { Handshake } from './handshake-client.ts'
import { inQuantiles, untilShown } from './handshake-times.ts'
import { nameOf } from './quick-issuer.ts'
import type { QuickIssuer } from './quick-issuer.ts'

const swaps = 200
/** The number of names whose certificates are swapped in turn, each several times. */
const swappedNames = 20
const swapEveryMs = 25
const clients = 4
const aimMs = 1_000
const shownProblems = 3

/** A load of clients that make handshakes without a pause. Some of them use the session of the last time. */
class Load {
  readonly tookMs: number[] = []
  readonly problems: string[] = []
  resumed = 0
  #over = false
  readonly #client: HandshakeClient

  constructor(client: HandshakeClient) {
    this.#client = client
  }

  stop(): void {
    this.#over = true
  }

  async run(first: number, keepsSessions: boolean): Promise<void> {
    const sessions = new Map<string, Buffer>()
    for (let count = first; !this.#over; count++) {
      const name = nameOf(count % swappedNames)
      const made = await this.shake(name, sessions.get(name))
      if (made === undefined) continue
      this.#count(made)
      if (keepsSessions) sessions.set(name, made.session)
    }
  }

  /** Makes a handshake. Records a failure in `problems` and resolves to undefined. */
  async shake(name: string, session?: Buffer): Promise<Handshake | undefined> {
    try {
      return await this.#client.shake(name, session)
    } catch (error) {
      this.problems.push(`${name}: ${String(error)}`)
      return undefined
    }
  }

  #count({ tookMs, resumed }: Handshake): void {
    this.tookMs.push(tookMs)
    if (resumed) this.resumed += 1
  }
}

/** Swaps certificates while clients make handshakes all the time. */
export async function swapUnderLoad(
  gateway: FeedGateway,
  issuer: QuickIssuer,
  client: HandshakeClient,
): Promise<readonly Finding[]> {
  const failedBefore = await failures(gateway)
  const load = new Load(client)
  const running = Promise.all(Array.from({ length: clients }, (_, at) => load.run(at * 5, at % 2 === 0)))
  const shownMs: number[] = []
  try {
    for (let at = 0; at < swaps; at++) {
      const next = issuer.issue(at % swappedNames)
      const startedMs = performance.now()
      await gateway.tell([certificateLine(at % swappedNames, next)])
      await untilShown(next, (name) => load.shake(name))
      shownMs.push(performance.now() - startedMs)
      await delay(swapEveryMs)
    }
  } finally {
    load.stop()
    await running
  }
  const seenByGateway = (await failures(gateway)) - failedBefore
  const { tookMs, problems, resumed } = load
  const some = problems.length === 0 ? '' : `: ${problems.slice(0, shownProblems).join('; ')}`
  return [
    {
      what: `swapping ${swaps} under load, from the feed's line until a handshake shows the new serial`,
      figure: `${inQuantiles(shownMs)}, longest ${quantile(shownMs, 1).toFixed(0)} ms`,
      aim: `below ${aimMs} ms`,
    },
    {
      what: `handshakes of ${clients} clients meanwhile`,
      figure: `${tookMs.length}, ${resumed} of them resumed; ${inQuantiles(tookMs)}`,
    },
    {
      what: 'of which failed, as clients and as the gateway count them',
      figure: `${problems.length} and ${seenByGateway}${some}`,
      aim: '0',
    },
  ]
}

async function failures(gateway: FeedGateway): Promise<number> {
  const outcomes = ['failed', 'no-certificate', 'unusable-certificate']
  const counts = await Promise.all(
    outcomes.map((each) => gateway.metric(`roost_gateway_handshakes_total{outcome="${each}"}`)),
  )
  return counts.reduce((sum: number, count) => sum + (count ?? 0), 0)
}
