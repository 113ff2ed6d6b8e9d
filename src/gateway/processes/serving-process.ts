import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { RouteTable } from '../route-table.ts'
import type { TrafficOfServices } from '../service-counts.ts'
import type { Metric, ToMain, ToServing } from './messages.ts'
import { onlyCounts } from './metric-sum.ts'
import { RouteSender } from './route-sender.ts'

/**
 * A process that does not read as many messages as this is stuck. Messages that come again and again would
 * only fill the memory. What has to arrive comes rarely or, as the routes do, waits for its turn.
 */
const mostWaiting = 8

/**
 * One serving process, as the main process has it. What is sent to a process that has ended is lost, which
 * is no error.
 */
export class ServingProcess {
  readonly routes: RouteSender
  readonly startedMs = performance.now()
  readonly exited: Promise<string>
  #isReady = false
  #asks = 0
  /** Messages that the channel has not taken yet. */
  #waiting = 0
  readonly #answers = new Map<number, (metrics: readonly Metric[]) => void>()
  /** What counters and histograms were at the last answer. */
  #counts: readonly Metric[] = []
  readonly #child: ChildProcess

  readonly #onServiceCounts: (counts: TrafficOfServices) => void

  /** `program` is the file of the process. `place` distinguishes the processes in the log. */
  constructor(
    program: string,
    place: number,
    told: { readonly table: RouteTable; readonly onServiceCounts: (counts: TrafficOfServices) => void },
  ) {
    const { table } = told
    this.#onServiceCounts = told.onServiceCounts
    this.#child = fork(program, [String(place)], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#child.on('message', (message) => this.#hear(message as ToMain))
    this.routes = new RouteSender({
      table,
      send: async (lines) => await this.send({ kind: 'routes', lines }),
    })
    this.exited = endOf(this.#child)
    void this.exited.then(() => this.routes.close())
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get isReady(): boolean {
    return this.#isReady
  }

  get counts(): readonly Metric[] {
    return this.#counts
  }

  /** Resolves once the channel has taken the message. It waits if the process is slow to read. */
  async send(message: ToServing): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    // The callback gets an error if the process has ended. Its end is noticed by itself.
    if (this.#child.connected) this.#child.send(message, () => resolve())
    else resolve()
    this.#waiting += 1
    await promise
    this.#waiting -= 1
  }

  /** Sends what is soon out of date. It is dropped if the process does not read. */
  sendUnlessBehind(message: ToServing): void {
    if (this.#waiting < mostWaiting) void this.send(message)
  }

  /** Resolves to the metrics of the process, or to its last counts if it does not answer in time. */
  async metrics(limitMs: number): Promise<readonly Metric[]> {
    const ask = (this.#asks += 1)
    const { promise, resolve } = Promise.withResolvers<readonly Metric[]>()
    this.#answers.set(ask, resolve)
    this.sendUnlessBehind({ kind: 'metrics', ask })
    const over = new AbortController()
    const late = delay(limitMs, undefined, { signal: over.signal }).catch(() => undefined)
    const metrics = await Promise.race([promise, late, this.exited.then(() => undefined)])
    over.abort()
    this.#answers.delete(ask)
    return metrics ?? this.#counts
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #hear(message: ToMain): void {
    if (message.kind === 'ready') this.#isReady = true
    else if (message.kind === 'service-counts') this.#onServiceCounts(message.counts)
    else {
      this.#counts = onlyCounts(message.metrics)
      this.#answers.get(message.ask)?.(message.metrics)
    }
  }
}

/** Resolves to how the process ended, in words. A process that could not be started has ended, too. */
async function endOf(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    return signal ?? `code ${code}`
  } catch (error) {
    return String(error)
  }
}
