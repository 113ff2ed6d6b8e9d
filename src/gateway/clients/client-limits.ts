/** What clients may have of a gateway, one source and all of them together. */
export interface ClientLimits {
  /** An address; of IPv6 a /64. Wider networks of IPv6 may have a multiple (`source.ts`). */
  readonly connectionsPerSource: number
  /** Each costs a file descriptor, often a second one towards its instance, and with TLS about 50 KB. */
  readonly connections: number
  /**
   * Of bodies that no instance takes and of answers that no client takes; wider networks likewise. Looked at
   * once a second.
   */
  readonly heldBytesPerSource: number
  readonly heldBytes: number
  /** A connection that lasts and moved so recently is as busy as one with a request. */
  readonly activeMs: number
  /** Connections that are looked at to find the one to close: a newcomer costs no more than that. */
  readonly lookedAt: number
  /** For a connection that was told to end to do so by itself. */
  readonly endMs: number
}

export const defaultClientLimits: ClientLimits = {
  connectionsPerSource: 1_000,
  connections: 50_000,
  heldBytesPerSource: 256 << 20,
  heldBytes: 2 ** 30,
  activeMs: 1_000,
  lookedAt: 4_096,
  endMs: 1_000,
}

/** At least as many can be served by a process that may open next to no files. */
const fewestConnections = 64
/** Of the files that may be open: for public ports, hosts and what Node itself needs. */
const reservedFiles = 1_024

/** The other half of the files is for the connections to instances. */
export function connectionsFor(openFiles: number): number {
  const reserved = Math.min(reservedFiles, openFiles / 4)
  const half = Math.floor((openFiles - reserved) / 2)
  return Math.max(fewestConnections, Math.min(defaultClientLimits.connections, half))
}

/**
 * Of the memory of the machine, or of the group of processes: beside it there is the heap, and other
 * processes.
 */
export function heldBytesFor(memoryBytes: number): number {
  return Math.floor(memoryBytes / 4)
}

/** One source has no more than a quarter of it. */
export function heldLimits(heldBytes: number): Pick<ClientLimits, 'heldBytes' | 'heldBytesPerSource'> {
  const { heldBytesPerSource } = defaultClientLimits
  return { heldBytes, heldBytesPerSource: Math.min(heldBytesPerSource, Math.floor(heldBytes / 4)) }
}
