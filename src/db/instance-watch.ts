import type { Database } from './database.ts'
import type { InstanceRow } from './instance-row.ts'
import { findByUuids } from './instances.ts'
import { openInstanceListener } from './instance-listener.ts'

/** Instances by uuid as they were last read; one that is not in it is deleted. */
export type WatchedInstances = ReadonlyMap<string, InstanceRow>

export interface WaitOutcome {
  readonly satisfied: boolean
  readonly instances: WatchedInstances
}

/**
 * Waits for states of instances without polling: however many wait, a process has one connection that listens, and a
 * row is read when PostgreSQL says that it changed. Notifications only wake: what counts is the row that is read then,
 * so repeated ones are harmless, and after a lost connection everything waited for is read again.
 */
export interface InstanceWatch {
  /**
   * Resolves when `isSatisfied` holds, with `satisfied: false` when the time is up or `signal` is aborted. Reads once
   * before it waits. Throws where that first read fails; later ones are tried again until the time is up.
   */
  waitFor(
    uuids: readonly string[],
    isSatisfied: (instances: WatchedInstances) => boolean,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<WaitOutcome>
  close(): Promise<void>
}

/** After a read failed while the listening connection lives; when that is lost too, its return wakes earlier. */
const rereadAfterMs = 1_000

interface Waiter {
  wake: () => void
}

export async function openInstanceWatch(database: Database): Promise<InstanceWatch> {
  const waiters = new Map<string, Set<Waiter>>()
  const wakeAll = () => waiters.forEach((set) => set.forEach((waiter) => waiter.wake()))
  const listener = await openInstanceListener(database, {
    onChange: (uuid) => waiters.get(uuid)?.forEach((waiter) => waiter.wake()),
    onReconnect: wakeAll,
  })
  return {
    async waitFor(uuids, isSatisfied, options) {
      const waiter: Waiter = { wake: () => {} }
      const limit = startLimit(options)
      for (const uuid of uuids) waiters.set(uuid, (waiters.get(uuid) ?? new Set()).add(waiter))
      try {
        return await waitUntil(() => readInstances(database, uuids), isSatisfied, waiter, limit)
      } finally {
        limit.clear()
        for (const uuid of uuids) forgetWaiter(waiters, uuid, waiter)
      }
    },
    close: () => listener.close(),
  }
}

/** The wake-up is armed before each read, so that a change during the read leads to another one. */
async function waitUntil(
  read: () => Promise<WatchedInstances>,
  isSatisfied: (instances: WatchedInstances) => boolean,
  waiter: Waiter,
  limit: Limit,
): Promise<WaitOutcome> {
  let woken = arm(waiter)
  let instances = await read()
  while (!isSatisfied(instances)) {
    await Promise.race([woken, limit.reached])
    if (limit.isReached()) return { satisfied: false, instances }
    woken = arm(waiter)
    try {
      instances = await read()
    } catch {
      // PostgreSQL is away; what was read last stands until it is back or the time is up.
      setTimeout(waiter.wake, rereadAfterMs).unref()
    }
  }
  return { satisfied: true, instances }
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

async function readInstances(database: Database, uuids: readonly string[]): Promise<WatchedInstances> {
  const rows = await findByUuids(database, uuids)
  return new Map(rows.map((row) => [row.uuid, row]))
}

function forgetWaiter(waiters: Map<string, Set<Waiter>>, uuid: string, waiter: Waiter): void {
  const set = waiters.get(uuid)
  set?.delete(waiter)
  if (set?.size === 0) waiters.delete(uuid)
}
