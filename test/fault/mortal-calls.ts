import { writeSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'

/** Calls around which a process may end itself with -9. */
export interface MortalCalls {
  /** Ends the process if `point` is the chosen point. */
  at(point: string): void
  /**
   * Passes the point `<name> <nth>, before`; `end` passes `<name> <nth>, after`. They are for a call that is
   * not one function, so that `passing` can not wrap it.
   */
  begin(name: string): void
  end(name: string): void
  /** Makes the call and passes the same points around it. A call that failed has passed `after`, too. */
  passing<T>(name: string, call: () => Promise<T>): Promise<T>
  /** Wraps each function of `calls` by `passing`, under its own name with the prefix before it. */
  mortal<T extends object>(calls: T, prefix?: string): T
}

type Call = (...args: readonly never[]) => Promise<unknown>

/** `point` is where the process ends itself. Without it the process never does. */
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
