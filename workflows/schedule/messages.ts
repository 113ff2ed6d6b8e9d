/** The type of the workflow of one run. Temporal's schedules start it. */
export const scheduleRunType = 'scheduleRun'

/** The id of Temporal's schedule. */
export function scheduleId(uuid: string): string {
  return `schedule/${uuid}`
}

/** The id of a run's workflow, to which Temporal appends the time of the run. */
export function scheduleRunId(uuid: string): string {
  return `schedule-run/${uuid}`
}
