/** The parts of a schedule that users change, in the words of the API. */
export const SchedulePart = {
  Cron: 'cron',
  TimeZone: 'time_zone',
  Paused: 'paused',
  CatchUp: 'catch_up_s',
  Overlap: 'overlap',
  Action: 'action',
} as const
export type SchedulePart = (typeof SchedulePart)[keyof typeof SchedulePart]

/** The parts that have a default, which a change can give back to them. */
export const clearableParts = [
  SchedulePart.TimeZone,
  SchedulePart.Paused,
  SchedulePart.CatchUp,
  SchedulePart.Overlap,
] as const
