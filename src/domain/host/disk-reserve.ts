const mebibyte = 1024 * 1024
const mostBytes = 2_048 * mebibyte
/** Of a small disk: otherwise nothing could be kept there at all. */
const share = 1 / 8

/** Of a file system. */
export interface DiskSize {
  /** What a process without privileges can still write. */
  readonly freeBytes: number
  /** Whoever uses it. */
  readonly totalBytes: number
}

/**
 * How much of a disk users never get, by the size of its whole file system: PostgreSQL, Temporal and the
 * platform's own files need it to go on. Agents keep it free of what instances write, and the registry's
 * owner of what is pushed. Both compare it with what is free, so it also holds against what nobody asked them
 * for. Whole MiB.
 */
export function diskReserveBytes(totalBytes: number): number {
  return Math.min(mostBytes, Math.floor((totalBytes * share) / mebibyte) * mebibyte)
}
