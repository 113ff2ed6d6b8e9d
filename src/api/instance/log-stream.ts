import { requestError } from '../../contract/errors.ts'
import type { getInstanceLogs } from '../../contract/instance/operations.ts'
import { defaultLogOffset, maxLogBytes } from '../../contract/limits.ts'
import { NodeUnavailable } from '../../control/host-client.ts'
import { findInstances } from '../../db/instance/instances.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import type { LogWindow } from '../../domain/host/api-protocol.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import type { StreamPlaces } from '../stream-places.ts'
import { missingEntry } from '../failed-entry.ts'
import { identifierOf } from '../named-objects.ts'
import { pause } from '../pause.ts'
import { streamTimes } from '../stream-writer.ts'
import type { SentEvent, StreamWriter } from '../stream-writer.ts'
import { streamedAnswer } from '../streamed-answer.ts'
import { presentLog } from './log-view.ts'

/**
 * The pause after a piece that reached the end of the log, so that a busy instance is not asked for each
 * line.
 */
const gatherMs = 100
/** The pause after a host did not answer, or did not wait because too many readers wait there already. */
const retryMs = 1_000
/**
 * The longest time for which a timer can be set: 24 days. A client that follows for longer connects
 * again.
 */
const longestMs = 2 ** 31 - 1

/**
 * Follows the log of one instance. It only reads, so it neither wakes a sleeping instance nor keeps it
 * awake.
 */
export function followLog(deps: ApiDeps, places: StreamPlaces): Handler<typeof getInstanceLogs> {
  return async ({ objects }, call) => {
    const [object] = objects
    const { offset = defaultLogOffset, limit } = object?.parameters ?? {}
    if (object?.target === undefined || objects.length > 1 || limit !== undefined) {
      const given = limit === undefined ? `${objects.length} instances are named` : `'limit' is ${limit}`
      throw requestError('followedLog', { given })
    }
    const [row] = await findInstances(deps.database, call.identity, [identifierOf(object.target)])
    if (row === undefined) return { entries: [missingEntry('instance', object.target)] }
    const start = call.lastEventId ?? offset
    return streamedAnswer({ deps, call, places }, (writer, ended) =>
      new LogStream({ deps, call, row }).run(writer, { offset: start, ended }),
    )
  }
}

class LogStream {
  readonly #deps: ApiDeps
  readonly #call: Call
  readonly #row: InstanceRow
  readonly #beatMs: number
  /** When something was sent last. */
  #sentMs = 0

  constructor({
    deps,
    call,
    row,
  }: {
    readonly deps: ApiDeps
    readonly call: Call
    readonly row: InstanceRow
  }) {
    this.#deps = deps
    this.#call = call
    this.#row = row
    this.#beatMs = (deps.settings.streamTimes ?? streamTimes).beatMs
  }

  /** Writes what the log has from `offset` on, until `ended` aborts or the instance or the token is gone. */
  async run(writer: StreamWriter, from: { readonly offset: number; readonly ended: AbortSignal }) {
    const over = new AbortController()
    const stopped = AbortSignal.any([from.ended, over.signal])
    // If the database can not be read, the stream ends as well, and the client connects again.
    const deletion = this.#deletion(stopped)
      .catch(() => false)
      .finally(() => over.abort())
    try {
      const offset = await this.#follow(writer, { offset: from.offset, stopped })
      over.abort()
      if (await deletion) await this.#finish(writer, offset)
    } finally {
      over.abort()
    }
  }

  /** Resolves with whether the instance was deleted, once it is or `stopped` aborts. */
  async #deletion(stopped: AbortSignal): Promise<boolean> {
    const { database, watch } = this.#deps
    const { uuid } = this.#row
    const read = async () => (await findInstances(database, this.#call.identity, [{ uuid }]))[0]
    const isSatisfied = (row: InstanceRow | undefined) => row === undefined
    const options = { timeoutMs: longestMs, signal: stopped }
    return (await watch.waitForRead([uuid], { read, isSatisfied }, options)).satisfied
  }

  async #follow(
    writer: StreamWriter,
    from: { readonly offset: number; readonly stopped: AbortSignal },
  ): Promise<number> {
    const { stopped } = from
    let { offset } = from
    let isFirst = true
    while (!stopped.aborted) {
      const askedMs = performance.now()
      const window = await this.#read(offset, isFirst ? undefined : stopped)
      if (stopped.aborted || !(await this.#call.stillValid())) break
      if (window === undefined) {
        await this.#rest(writer, retryMs, stopped)
        continue
      }
      const events = eventsOf(this.#row, window, { offset, isFirst })
      offset = endOf(window)
      isFirst = false
      await this.#send(writer, events)
      if (offset < window.availableEnd) continue
      const isEarly = events.length === 0 && performance.now() - askedMs < Math.min(retryMs, this.#beatMs)
      await this.#rest(writer, isEarly ? retryMs : events.length > 0 ? gatherMs : 0, stopped)
    }
    return offset
  }

  /** Without `stopped` the host answers at once. Undefined if it does not answer. */
  async #read(offset: number, stopped?: AbortSignal): Promise<LogWindow | undefined> {
    try {
      return await this.#deps.nodes.readLog(this.#row, {
        offset,
        limit: maxLogBytes,
        ...(stopped !== undefined && { wait: { ms: this.#beatMs, signal: stopped } }),
      })
    } catch (error) {
      if (error instanceof NodeUnavailable) return undefined
      throw error
    }
  }

  async #send(writer: StreamWriter, events: readonly SentEvent[]): Promise<void> {
    if (events.length === 0) return
    await writer.send(events)
    this.#sentMs = performance.now()
  }

  async #rest(writer: StreamWriter, ms: number, stopped: AbortSignal): Promise<void> {
    await pause(ms, stopped)
    if (stopped.aborted || performance.now() - this.#sentMs < this.#beatMs) return
    await writer.beat()
    this.#sentMs = performance.now()
  }

  /** Sends what was printed last, if the host has it still, and why the stream ends. */
  async #finish(writer: StreamWriter, offset: number): Promise<void> {
    const window = offset < 0 ? undefined : await this.#read(offset)
    const isLast = window !== undefined && window.availableEnd > offset
    if (isLast) await this.#send(writer, eventsOf(this.#row, window, { offset, isFirst: false }))
    const { uuid, name } = this.#row
    const message = `instance '${name}' is deleted, and its log with it`
    await this.#send(writer, [{ type: 'end', data: { uuid, name, message } }])
  }
}

/** Where the log goes on after a window. */
function endOf({ rangeEnd, availableEnd }: LogWindow): number {
  return Math.min(rangeEnd, availableEnd)
}

/** The first window is told even if it is empty, so that the client has an id from the beginning. */
function eventsOf(
  row: InstanceRow,
  window: LogWindow,
  { offset, isFirst }: { readonly offset: number; readonly isFirst: boolean },
): readonly SentEvent[] {
  const hasBytes = window.rangeEnd > window.rangeStart
  const gap = gapBefore(window, offset)
  const piece = { id: endOf(window), type: 'log', data: presentLog(row, window) }
  return [...(gap === undefined ? [] : [gap]), ...(hasBytes || isFirst ? [piece] : [])]
}

/** A negative offset counts from the end and says nothing about what the client has. */
function gapBefore({ rangeStart, availableEnd }: LogWindow, offset: number): SentEvent | undefined {
  if (offset < 0) return undefined
  if (offset > availableEnd) {
    const message = `the log ends at byte ${availableEnd}, before byte ${offset}: its host has lost what it had`
    return gap(offset, availableEnd, message)
  }
  if (rangeStart <= offset) return undefined
  const message = `the bytes from ${offset} to ${rangeStart} are not kept any more`
  return gap(offset, rangeStart, message)
}

function gap(after: number, goesOnWith: number, message: string): SentEvent {
  return { id: goesOnWith, type: 'gap', data: { after, goes_on_with: goesOnWith, message } }
}
