import type { Cron } from './cron.ts'

/**
 * The days that are looked at for each of the next times. 29 February is at most 8 years away (from 2096 to
 * 2104).
 */
const mostDays = 366 * 8 + 2
const minuteMs = 60_000
const dayMs = 86_400_000

/** Whether the name is one of the time zone database. */
export function isTimeZone(name: string): boolean {
  // A bare offset, such as `+01:00`, is no zone of the database. Temporal would refuse it.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/**
 * The next times after `afterMs` at which a schedule runs, in ascending order. Temporal starts the runs;
 * this is the same rule for readers, and a test compares both. A time that a change to summer time leaves
 * out does not occur. A time that the change back repeats is told once; west of Greenwich, Temporal's
 * server runs a schedule at both.
 */
export function nextOccurrences(
  cron: Cron,
  {
    timeZone,
    afterMs,
    count,
  }: { readonly timeZone: string; readonly afterMs: number; readonly count: number },
): readonly number[] {
  const clock = new WallClock(timeZone)
  const found: number[] = []
  // A calendar day, as midnight of the same date in UTC. It begins with the day before, because two days
  // overlap where the clock goes back over midnight.
  let day = Math.floor((afterMs + clock.offsetMs(afterMs)) / dayMs) * dayMs - dayMs
  for (let days = 0; days < mostDays * count && found.length < count; days++, day += dayMs) {
    if (!fitsDay(cron, new Date(day))) continue
    const times = cron.hours.flatMap((hour) =>
      cron.minutes.flatMap((minute) => clock.instantsOf(day + (hour * 60 + minute) * minuteMs)),
    )
    found.push(...times.filter((time) => time > afterMs).toSorted((a, b) => a - b))
  }
  return found.slice(0, count)
}

/** Whether the day, a date in UTC, is one of the calendar's. */
function fitsDay({ months, daysOfMonth, daysOfWeek }: Cron, day: Date): boolean {
  if (!months.includes(day.getUTCMonth() + 1)) return false
  const inMonth = daysOfMonth?.includes(day.getUTCDate())
  const inWeek = daysOfWeek?.includes(day.getUTCDay())
  if (inMonth === undefined || inWeek === undefined) return inMonth ?? inWeek ?? true
  return inMonth || inWeek
}

/** The clock on the wall in one time zone. Wall times are numbers as if they were in UTC. */
class WallClock {
  readonly #format: Intl.DateTimeFormat

  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  }

  /** How far the wall clock is ahead of UTC at that instant. */
  offsetMs(atMs: number): number {
    const parts = this.#format.formatToParts(atMs)
    const part = (type: string) => Number(parts.find((one) => one.type === type)?.value)
    const date = Date.UTC(part('year'), part('month') - 1, part('day'))
    const time = (part('hour') * 60 + part('minute')) * minuteMs + part('second') * 1_000
    return date + time - Math.floor(atMs / 1_000) * 1_000
  }

  /**
   * The instant at which the wall clock shows this time, as a list of one; empty if there is none. If there
   * are two, it is the one that Temporal takes. The wall time read as UTC has the offset of one side of the
   * change: of the later one in the east, and of the earlier one in the west.
   */
  instantsOf(wallMs: number): readonly number[] {
    const guess = this.offsetMs(wallMs)
    const at = wallMs - (this.offsetMs(wallMs - guess) === guess ? guess : this.offsetMs(wallMs - guess))
    return at + this.offsetMs(at) === wallMs ? [at] : []
  }
}
