import { writeSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'

/** Calls around which a process may end itself with -9. */
export interface MortalCalls {
  /** Ends the process where this is its point. */
  at(point: string): void
  /** The points `<name> <nth>, before` and `, after`, for a call that is no function of its own. */
  begin(name: string): void
  end(name: string): void
  /** The same points around a call. A call that failed is over, too. */
  passing<T>(name: string, call: () => Promise<T>): Promise<T>
  /** The same calls, and death before or after one of them; the prefix stands before their names. */
  mortal<T extends object>(calls: T, prefix?: string): T
}

type Call = (...args: readonly never[]) => Promise<unknown>

/** `point` is where the process ends itself; absent: nowhere. */
export function createMortalCalls(point: string | undefined): MortalCalls {
  const counts = new Map<string, number>()

  function at(passed: string): void {
    if (passed === point) process.kill(process.pid, 'SIGKILL')
  }

  function count(what: string): number {
    const nth = (counts.get(what) ?? 0) + 1
    counts.set(what, nth)
    return nth
  }

  const begin = (name: string): void => at(`${name} ${count(`${name} begun`)}, before`)
  const end = (name: string): void => at(`${name} ${count(`${name} over`)}, after`)

  async function passing<T>(name: string, call: () => Promise<T>): Promise<T> {
    begin(name)
    try {
      return await call()
    } finally {
      end(name)
    }
  }

  return {
    at,
    begin,
    end,
    passing,
    mortal<T extends object>(calls: T, prefix = ''): T {
      const watched = Object.entries(calls).map(([name, call]) => [
        name,
        typeof call === 'function'
          ? (...args: readonly never[]) => passing(`${prefix}${name}`, () => (call as Call)(...args))
          : call,
      ])
      return Object.fromEntries(watched) as T
    },
  }
}

const pollMs = 20

/** Starts the worker, and writes `ready` once it takes work. */
export async function workAloud(worker: { start(): void; readonly polls: boolean }): Promise<void> {
  worker.start()
  while (!worker.polls) await delay(pollMs)
  writeSync(1, 'ready\n')
}
