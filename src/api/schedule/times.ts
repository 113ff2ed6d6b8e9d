import { problem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import { shortened } from '../../contract/request/validation-problems.ts'
import { parseCron } from '../../domain/schedule/cron.ts'
import { isTimeZone } from '../../domain/schedule/occurrences.ts'

/** Finds what is wrong with the times of a schedule. */
export function timeProblems({
  cron,
  time_zone: timeZone,
}: {
  readonly cron?: string
  readonly time_zone?: string
}): readonly Problem[] {
  const found: Problem[] = []
  if (cron !== undefined) {
    const read = parseCron(cron)
    if (!read.ok) found.push(problem('invalidCron', { value: shortened(cron), reason: read.reason }))
  }
  if (timeZone !== undefined && !isTimeZone(timeZone))
    found.push(problem('invalidTimeZone', { value: shortened(timeZone) }))
  return found
}
