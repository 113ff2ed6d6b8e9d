/** How much of a gateway clients may use: one source, and all of them together. */
export interface ClientLimits {
  /**
   * The largest number of connections of one source: an address of IPv4 or a /64 of IPv6. Wider networks of
   * IPv6 may have a multiple (`source.ts`).
   */
  readonly connectionsPerSource: number
  /**
   * The largest number of connections of all clients. Each takes a file descriptor, often a second one
   * towards its instance, and with TLS about 50 KB.
   */
  readonly connections: number
  /**
   * The most bytes held for one source, and in the next line for all: bodies that no instance takes, and
   * answers that no client takes. Wider networks may have a multiple here, too. The bytes are counted once
   * a second.
   */
  readonly heldBytesPerSource: number
  readonly heldBytes: number
  /** A lasting connection that moved within this time counts as busy, like one with a request. */
  readonly activeMs: number
  /**
   * The largest number of connections that are looked at to find one to close. It bounds what a newcomer
   * costs.
   */
  readonly lookedAt: number
  /** How long a connection that was told to end may take before it is closed. */
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

/** The least number of client connections, even if the process may open next to no files. */
const fewestConnections = 64
/** How many open files are kept for public ports, hosts and what Node itself needs. */
const reservedFiles = 1_024

/**
 * Returns the largest number of client connections. Clients get half of the files that are left; the other
 * half is for the connections to instances.
 */
export function connectionsFor(openFiles: number): number {
  const reserved = Math.min(reservedFiles, openFiles / 4)
  const half = Math.floor((openFiles - reserved) / 2)
  return Math.max(fewestConnections, Math.min(defaultClientLimits.connections, half))
}

/**
 * Returns how many bytes may be held for all clients: a quarter of the memory of the machine, or of the
 * group of processes. The heap and other processes need the rest.
 */
export function heldBytesFor(memoryBytes: number): number {
  return Math.floor(memoryBytes / 4)
}

/** One source may hold no more than a quarter of `heldBytes`. */
export function heldLimits(heldBytes: number): Pick<ClientLimits, 'heldBytes' | 'heldBytesPerSource'> {
  const { heldBytesPerSource } = defaultClientLimits
  return { heldBytes, heldBytesPerSource: Math.min(heldBytesPerSource, Math.floor(heldBytes / 4)) }
}
