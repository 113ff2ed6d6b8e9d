import type { IncomingMessage } from 'node:http'

const admitted = new WeakMap<IncomingMessage, string>()

/** Notes that a request comes from this host, as the certificate of its connection says. */
export function noteHost(request: IncomingMessage, hostId: string): void {
  admitted.set(request, hostId)
}

/** The host from which a request comes. Undefined if it came over a connection without a certificate. */
export function hostBehind(request: IncomingMessage): string | undefined {
  return admitted.get(request)
}
