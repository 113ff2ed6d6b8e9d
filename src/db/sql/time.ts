import { sql } from 'kysely'
import type { Expression, RawBuilder } from 'kysely'

// PostgreSQL's clock is the only one that all processes share. The query builder has no words for intervals.

/** The time at which the transaction began. */
export const now: RawBuilder<Date> = sql`now()`

/** The time that lies `ms` before `time`. */
export function before(time: Expression<Date>, ms: number): RawBuilder<Date> {
  return sql`${time} - make_interval(secs => ${ms / 1_000})`
}

/** The time that lies `ms` before `now`. */
export function ago(ms: number): RawBuilder<Date> {
  return before(now, ms)
}

/** The time that lies `ms` after `now`. */
export function fromNow(ms: number): RawBuilder<Date> {
  return sql`now() + make_interval(secs => ${ms / 1_000})`
}
