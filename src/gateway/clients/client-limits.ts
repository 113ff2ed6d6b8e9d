/** What clients may have of a gateway, one source and all of them together. */
export interface ClientLimits {
  /**
   * A source is an address of IPv4 or a /64 of IPv6. Wider networks of IPv6 may have a multiple
   * (`source.ts`).
   */
  readonly connectionsPerSource: number
  /** Each takes a file descriptor, often a second one towards its instance, and with TLS about 50 KB. */
  readonly connections: number
  /**
   * Bytes of bodies that no instance takes and of answers that no client takes. Wider networks may have a
   * multiple here, too. The bytes are counted once a second.
   */
  readonly heldBytesPerSource: number
  readonly heldBytes: number
  /** A lasting connection that moved within this time counts as busy, like one with a request. */
  readonly activeMs: number
  /** Connections that are looked at to find the one to close: a newcomer costs no more than that. */
  readonly lookedAt: number
  /** How long a connection that was told to end may take to do so by itself. */
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

/** Even a process that may open next to no files can serve this many. */
const fewestConnections = 64
/** Of the files that may be open, those for public ports, hosts and what Node itself needs. */
const reservedFiles = 1_024

/** Half of the remaining files are for clients; the other half is for the connections to instances. */
export function connectionsFor(openFiles: number): number {
  const reserved = Math.min(reservedFiles, openFiles / 4)
  const half = Math.floor((openFiles - reserved) / 2)
  return Math.max(fewestConnections, Math.min(defaultClientLimits.connections, half))
}

/**
 * A quarter of the memory of the machine, or of the group of processes. Beside it there are the heap and
 * other processes.
 */
export function heldBytesFor(memoryBytes: number): number {
  return Math.floor(memoryBytes / 4)
}

/** One source may hold no more than a quarter of `heldBytes`. */
export function heldLimits(heldBytes: number): Pick<ClientLimits, 'heldBytes' | 'heldBytesPerSource'> {
  const { heldBytesPerSource } = defaultClientLimits
  return { heldBytes, heldBytesPerSource: Math.min(heldBytesPerSource, Math.floor(heldBytes / 4)) }
}
