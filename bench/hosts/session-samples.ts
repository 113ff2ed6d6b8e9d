import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../src/db/database.ts'
import { readRows } from '../../test/support/rows.ts'

/** How many of Roost's sessions in PostgreSQL did what, as a mean of all samples. */
export interface SessionMeans {
  /** They run on a processor, or wait for one. */
  readonly running: number
  /** They wait until another transaction gives a lock back. */
  readonly waitingForLocks: number
  /** They wait for the disk, or for the log of another commit to be flushed. */
  readonly waitingForDisk: number
  /** A transaction is open, and its client does something else. */
  readonly idleInTransaction: number
}

const sampleEveryMs = 100

/** Looks at the sessions again and again until `stop`, which returns the means. */
export function sampleSessions(database: Database): { stop(): Promise<SessionMeans> } {
  const stopping = new AbortController()
  const samples: SessionMeans[] = []
  const sampling = (async () => {
    while (!stopping.signal.aborted) {
      samples.push(await sample(database))
      await delay(sampleEveryMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  })()
  const mean = (of: (one: SessionMeans) => number) =>
    samples.reduce((sum, one) => sum + of(one), 0) / Math.max(1, samples.length)
  return {
    async stop() {
      stopping.abort()
      await sampling
      return {
        running: mean(({ running }) => running),
        waitingForLocks: mean(({ waitingForLocks }) => waitingForLocks),
        waitingForDisk: mean(({ waitingForDisk }) => waitingForDisk),
        idleInTransaction: mean(({ idleInTransaction }) => idleInTransaction),
      }
    },
  }
}

async function sample(database: Database): Promise<SessionMeans> {
  const [seen] = await readRows<SessionMeans>(database, {
    text: `select
        count(*) filter (where state = 'active' and wait_event_type is null)::int as "running",
        count(*) filter (where state = 'active' and wait_event_type = 'Lock')::int as "waitingForLocks",
        count(*) filter (where state = 'active' and (wait_event_type = 'IO' or wait_event in ('WALWrite', 'WalSync')))::int
          as "waitingForDisk",
        count(*) filter (where state = 'idle in transaction')::int as "idleInTransaction"
      from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  })
  if (seen === undefined) throw new Error('PostgreSQL told nothing about its sessions')
  return seen
}
