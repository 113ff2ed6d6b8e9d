import type { ProxyHeaderFault } from './proxy-header.ts'

/**
 * The time for which one kind of fault is not logged again: a proxy that is set up wrongly sends it always.
 */
const quietMs = 60_000

/** Returns the function that counts and logs a PROXY header that can not be used. */
export function proxyHeadersTold(
  log: { warn(fields: object, message: string): void },
  count: () => void,
): (fault: ProxyHeaderFault, peer: string) => void {
  const loggedAtMs = new Map<ProxyHeaderFault, number>()
  return (fault, peer) => {
    count()
    const nowMs = performance.now()
    const last = loggedAtMs.get(fault)
    if (last !== undefined && nowMs - last < quietMs) return
    loggedAtMs.set(fault, nowMs)
    log.warn(
      { peer, why: fault },
      'the PROXY header of a trusted proxy can not be used; its connection was closed',
    )
  }
}
