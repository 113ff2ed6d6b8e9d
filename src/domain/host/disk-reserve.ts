const mebibyte = 1024 * 1024
const mostBytes = 2_048 * mebibyte
/**
 * The largest share of a disk that is reserved. It applies to small disks, on which the full reserve would
 * leave no room to store anything.
 */
const share = 1 / 8

/** The size of a file system. */
export interface DiskSize {
  /** The bytes that a process without privileges can still write. */
  readonly freeBytes: number
  /** All bytes of the file system, used or free. */
  readonly totalBytes: number
}

/**
 * How much of a disk users never get, in whole MiB, by the size of the whole file system. PostgreSQL,
 * Temporal and the platform's own files need this room. Agents keep it free from what instances write, and
 * the registry's owner from what is pushed. Both compare it with the space that is free, so it also stays
 * free from files that neither of them controls.
 */
export function diskReserveBytes(totalBytes: number): number {
  return Math.min(mostBytes, Math.floor((totalBytes * share) / mebibyte) * mebibyte)
}
