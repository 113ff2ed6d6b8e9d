/** What a sweep takes of the rows whose workflow was not started or told. */
export interface SweepBounds {
  /** Younger ones are left to the process that made them. */
  readonly olderThanMs: number
  /** At most as many at a time; the next sweep takes the rest. */
  readonly limit: number
}
