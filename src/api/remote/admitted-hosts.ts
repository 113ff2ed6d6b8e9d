import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'

type Request = IncomingMessage | Http2ServerRequest

const admitted = new WeakMap<Request, string>()

/** Notes that a request comes from this host, as the certificate of its connection says. */
export function noteHost(request: Request, hostId: string): void {
  admitted.set(request, hostId)
}

/** The host from which a request comes. Undefined if it came over a connection without a certificate. */
export function hostBehind(request: Request): string | undefined {
  return admitted.get(request)
}
