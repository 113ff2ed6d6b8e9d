import type { Database } from '../database.ts'
import type { FeedTopic } from '../service/feed-read.ts'
import { feedTopics } from '../service/feed-read.ts'
import { openInstanceListener } from './listener.ts'

export interface ReadOutcome<Seen> {
  readonly satisfied: boolean
  /** The answer of the last read. */
  readonly seen: Seen
}

/**
 * Waits for states of instances without polling. A process has one connection that listens, however many
 * calls wait, and a row is read when PostgreSQL says that it changed. A notification only wakes the waiting
 * calls; what counts is the row that they read then. So repeated notifications are harmless, and after a
 * lost connection all waiting calls read again.
 */
export interface InstanceWatch {
  /**
   * Resolves when `isSatisfied` accepts the answer of `read` about these instances or volumes, or with
   * `satisfied: false` when the time is up or `signal` is aborted. Reads once before it waits. Throws if
   * that first read fails; later reads are tried again until the time is up.
   */
  waitForRead<Seen>(
    uuids: readonly string[],
    wanted: { readonly read: () => Promise<Seen>; readonly isSatisfied: (seen: Seen) => boolean },
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<ReadOutcome<Seen>>
  /**
   * Calls `wake` when the feed of that topic may have changed, also after a lost connection. A call only
   * says that a read may find something new. Returns a function that ends the calls.
   */
  onFeed(topic: FeedTopic, wake: () => void): () => void
  /**
   * Calls `wake` when a user has new events, also after a lost connection. Returns a function that ends the
   * calls.
   */
  onEvents(userUuid: string, wake: () => void): () => void
  /** Makes those who wait for the instance read again. It only says that a read may find something new. */
  lookAgain(uuid: string): void
  close(): Promise<void>
}

/**
 * The pause after a failed read. If the listening connection was lost too, the pause ends as soon as there
 * is a new connection.
 */
const rereadAfterMs = 1_000

interface Waiter {
  wake: () => void
}

export async function openInstanceWatch(database: Database): Promise<InstanceWatch> {
  const waiters = new Map<string, Set<Waiter>>()
  const feedReaders: Readonly<Record<FeedTopic, Set<() => void>>> = { routes: new Set(), names: new Set() }
  const eventReaders = new Map<string, Set<() => void>>()
  const wakeReaders = (topic: FeedTopic) => feedReaders[topic].forEach((wake) => wake())
  const lookAgain = (uuid: string) => waiters.get(uuid)?.forEach((waiter) => waiter.wake())
  const listener = await openInstanceListener(database, {
    onChange: lookAgain,
    onFeed: (topics) => feedTopics.filter((topic) => topics.includes(topic)).forEach(wakeReaders),
    onEvents: (userUuid) => eventReaders.get(userUuid)?.forEach((wake) => wake()),
    onReconnect() {
      waiters.forEach((set) => set.forEach((waiter) => waiter.wake()))
      feedTopics.forEach(wakeReaders)
      eventReaders.forEach((set) => set.forEach((wake) => wake()))
    },
  })
  const waitForRead: InstanceWatch['waitForRead'] = async (uuids, { read, isSatisfied }, options) => {
    const waiter: Waiter = { wake: () => {} }
    const limit = startLimit(options)
    for (const uuid of uuids) waiters.set(uuid, (waiters.get(uuid) ?? new Set()).add(waiter))
    try {
      return await waitUntil(read, isSatisfied, waiter, limit)
    } finally {
      limit.clear()
      for (const uuid of uuids) forgetWaiter(waiters, uuid, waiter)
    }
  }
  return {
    waitForRead,
    onFeed(topic, wake) {
      feedReaders[topic].add(wake)
      return () => feedReaders[topic].delete(wake)
    },
    onEvents(userUuid, wake) {
      const own = eventReaders.get(userUuid) ?? new Set()
      eventReaders.set(userUuid, own.add(wake))
      return () => {
        own.delete(wake)
        if (own.size === 0 && eventReaders.get(userUuid) === own) eventReaders.delete(userUuid)
      }
    },
    lookAgain,
    close: () => listener.close(),
  }
}

/** The wake-up is armed before each read, so that a change during the read leads to another read. */
async function waitUntil<Seen>(
  read: () => Promise<Seen>,
  isSatisfied: (seen: Seen) => boolean,
  waiter: Waiter,
  limit: Limit,
): Promise<ReadOutcome<Seen>> {
  let woken = arm(waiter)
  let seen = await read()
  while (!isSatisfied(seen)) {
    await Promise.race([woken, limit.reached])
    if (limit.isReached()) return { satisfied: false, seen }
    woken = arm(waiter)
    try {
      seen = await read()
    } catch {
      // PostgreSQL is away. The last answer stays until PostgreSQL is back or the time is up.
      setTimeout(waiter.wake, rereadAfterMs).unref()
    }
  }
  return { satisfied: true, seen }
}

function arm(waiter: Waiter): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  waiter.wake = resolve
  return promise
}

interface Limit {
  readonly reached: Promise<void>
  isReached(): boolean
  clear(): void
}

function startLimit(options: { readonly timeoutMs: number; readonly signal?: AbortSignal }): Limit {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isReached = false
  const reach = () => {
    isReached = true
    resolve()
  }
  const timer = setTimeout(reach, options.timeoutMs)
  if (options.signal?.aborted) reach()
  options.signal?.addEventListener('abort', reach, { once: true })
  return {
    reached: promise,
    isReached: () => isReached,
    clear() {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', reach)
    },
  }
}

function forgetWaiter(waiters: Map<string, Set<Waiter>>, uuid: string, waiter: Waiter): void {
  const set = waiters.get(uuid)
  set?.delete(waiter)
  if (set?.size === 0) waiters.delete(uuid)
}
