/** Which rows a sweep takes, of those whose workflow was not started or told. */
export interface SweepBounds {
  /** The least age of a row. A younger row is left to the process that wrote it. */
  readonly olderThanMs: number
  /** The most rows in one sweep. The next sweep takes the rest. */
  readonly limit: number
}
