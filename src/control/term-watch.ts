import { setTimeout as delay } from 'node:timers/promises'
import type { HostTerm } from '../db/host/loss.ts'
import { unheardAfterMs } from '../domain/host/loss.ts'
import type { WatchedTerm } from '../domain/host/loss.ts'

/** The pause between two looks while any host has a term or is lost, and else. */
const lookEveryMs = 1_000
const idleLookEveryMs = 10_000
/**
 * The longest time between two good looks over which counts go on. In a longer gap heartbeats may have been
 * lost, because PostgreSQL or this whole machine was away.
 */
const longestGapMs = 5_000
/** A connection to a server that is gone may never answer. */
const usualReadLimitMs = 5_000
/** A workflow that runs is left alone, so it is started again only for the case that somebody ended it. */
const startAgainAfterMs = 30_000
const retryStartAfterMs = 5_000
/** The most starts in one look. If a whole network was away, the next looks start the rest. */
const startsAtOnce = 20

export interface TermWatchOptions {
  readonly readTerms: () => Promise<readonly HostTerm[]>
  /** How long a read may take. Absent: 5 s. */
  readonly readLimitMs?: number
  /** Starts the workflow of a host. Idempotent. */
  readonly start: (hostId: string) => Promise<void>
  /** A clock that only runs forwards, such as `performance.now`. */
  readonly nowMs: () => number
  readonly onProblem: (message: string, error: unknown, hostId?: string) => void
  /** Called when a host that was heard, or that was not seen before, has not been heard for a while. */
  readonly onSilent?: (hostId: string, unheardMs: number) => void
}

interface Seen {
  readonly heartbeatAtMs: number
  /** When the look ended in which this heartbeat was first seen. */
  readonly sinceMs: number
  readonly wasHeard: boolean
}

/**
 * Counts for each host how long its row has had the same heartbeat, by this process's own monotonic clock.
 * Times of rows are only compared for equality, so a clock that is set changes nothing. A count begins when
 * the look ends that saw the heartbeat first, thus after the host sent it. After a failed look, or a gap
 * between looks, all counts begin anew: then nobody knows whether heartbeats came, and every host gets its
 * full term again. Each process that leads hosts' workflows has a watch of its own.
 *
 * It starts the workflow of each host that is silent, lost or to be emptied.
 */
export class TermWatch {
  readonly #options: TermWatchOptions
  #hosts: ReadonlyMap<string, Seen> = new Map()
  /** When the last good look ended. Undefined: none since the last failure. */
  #lookedMs: number | undefined
  /** When the workflow of a host may be started next. Only hosts that need one are in it. */
  readonly #startNextMs = new Map<string, number>()

  constructor(options: TermWatchOptions) {
    this.#options = options
  }

  /** Undefined if nobody can say, because the host is not known, or reads fail or hang. */
  of(hostId: string): WatchedTerm | undefined {
    const nowMs = this.#options.nowMs()
    const seen = this.#hosts.get(hostId)
    if (seen === undefined || this.#lookedMs === undefined || nowMs - this.#lookedMs > longestGapMs)
      return undefined
    const { heartbeatAtMs, sinceMs, wasHeard } = seen
    return { heartbeatAtMs, unheardMs: nowMs - sinceMs, wasHeard }
  }

  /** Looks once. Returns how long to wait for the next look. */
  async look(): Promise<number> {
    const { readTerms, nowMs, onProblem } = this.#options
    let terms: readonly HostTerm[]
    try {
      terms = await withinLimit(readTerms(), this.#options.readLimitMs ?? usualReadLimitMs)
    } catch (error) {
      this.#hosts = new Map()
      this.#lookedMs = undefined
      onProblem('the heartbeats of hosts can not be read: their terms are counted anew', error)
      return lookEveryMs
    }
    const atMs = nowMs()
    const isGap = this.#lookedMs === undefined || atMs - this.#lookedMs > longestGapMs
    const before = isGap ? new Map<string, Seen>() : this.#hosts
    this.#hosts = new Map(terms.map((term) => [term.id, seenNow(term, before.get(term.id), atMs)]))
    this.#lookedMs = atMs
    await this.#startDue(terms, atMs)
    return terms.some(needsWatch) ? lookEveryMs : idleLookEveryMs
  }

  async #startDue(terms: readonly HostTerm[], atMs: number): Promise<void> {
    const due: string[] = []
    const troubled = new Set<string>()
    for (const { id, termMs, lostAt, drainingAt } of terms) {
      const unheardMs = atMs - (this.#hosts.get(id)?.sinceMs ?? atMs)
      const isSilent = termMs !== null && unheardMs >= unheardAfterMs
      if (lostAt === null && !isSilent && drainingAt === null) continue
      troubled.add(id)
      if (isSilent && lostAt === null && !this.#startNextMs.has(id)) this.#options.onSilent?.(id, unheardMs)
      if (atMs >= (this.#startNextMs.get(id) ?? atMs)) due.push(id)
    }
    for (const id of this.#startNextMs.keys()) if (!troubled.has(id)) this.#startNextMs.delete(id)
    await Promise.all(due.slice(0, startsAtOnce).map((id) => this.#start(id, atMs)))
  }

  async #start(hostId: string, atMs: number): Promise<void> {
    this.#startNextMs.set(hostId, atMs + startAgainAfterMs)
    try {
      await this.#options.start(hostId)
    } catch (error) {
      this.#startNextMs.set(hostId, atMs + retryStartAfterMs)
      this.#options.onProblem('the workflow of a host could not be started yet', error, hostId)
    }
  }
}

function needsWatch({ termMs, lostAt, drainingAt }: HostTerm): boolean {
  return termMs !== null || lostAt !== null || drainingAt !== null
}

async function withinLimit<T>(read: Promise<T>, limitMs: number): Promise<T> {
  const settled = new AbortController()
  const late = delay(limitMs, undefined, { signal: settled.signal, ref: false }).then(() => {
    throw new Error(`the database did not answer within ${limitMs / 1_000} s`)
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([read, late])
  } finally {
    settled.abort()
  }
}

function seenNow({ heartbeatAt }: HostTerm, before: Seen | undefined, atMs: number): Seen {
  const heartbeatAtMs = heartbeatAt.getTime()
  if (before?.heartbeatAtMs === heartbeatAtMs) return before
  return { heartbeatAtMs, sinceMs: atMs, wasHeard: before !== undefined }
}

/** Looks as long as the process lives. What is returned ends it. */
export function startTermWatch(watch: TermWatch): () => void {
  const stopping = new AbortController()
  const { signal } = stopping
  const loop = async (): Promise<void> => {
    while (!signal.aborted) await delay(await watch.look(), undefined, { signal }).catch(() => undefined)
  }
  void loop()
  return () => stopping.abort()
}
