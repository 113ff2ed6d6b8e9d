import type { ScheduleRow } from '../../db/schedule/row.ts'
import type { RunRow } from '../../db/schedule/runs.ts'
import type { Explanation } from '../../domain/instance/explanation.ts'
import { parseCron } from '../../domain/schedule/cron.ts'
import { explainSchedule } from '../../domain/schedule/explanation.ts'
import { nextOccurrences } from '../../domain/schedule/occurrences.ts'

/** What a schedule does, what its last run did, and when it runs next, from the rows. */
export function scheduleExplanation(
  row: ScheduleRow,
  { lastRun, nowMs }: { readonly lastRun: RunRow | undefined; readonly nowMs: number },
): Explanation {
  const { name, cron, timeZone, paused, action, overlap } = row
  const read = parseCron(cron)
  const [nextAtMs] = read.ok ? nextOccurrences(read.cron, { timeZone, afterMs: nowMs, count: 1 }) : []
  return explainSchedule({
    name,
    cron,
    timeZone,
    paused,
    action,
    overlap,
    isTold: row.toldVersion >= row.version,
    ...(nextAtMs !== undefined && { nextAtMs }),
    ...(lastRun && {
      lastRun: {
        result: lastRun.result,
        startedAtMs: lastRun.startedAt.getTime(),
        ...(lastRun.endedAt && { endedAtMs: lastRun.endedAt.getTime() }),
        ...(lastRun.reason !== null && { reason: lastRun.reason }),
      },
    }),
  })
}
