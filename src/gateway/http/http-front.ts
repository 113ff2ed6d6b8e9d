import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ConnectionUse } from '../clients/connection-use.ts'
import type { TrustsPeer } from '../clients/trusted-proxies.ts'
import type { Routes } from '../routes.ts'
import type { Tracer } from '../../primitives/traces.ts'
import type { Traffic } from '../traffic.ts'
import { ClientConnection } from './client-connection.ts'
import type { Arrival } from './client-connection.ts'
import type { FrontParts } from './front-parts.ts'
import { FastServer } from './http1/fast-server.ts'
import { Http1Server } from './http1/http1-server.ts'
import { Http2Server } from './http2/http2-server.ts'
import { defaultHttpLimits } from './http-limits.ts'
import type { HttpLimits } from './http-limits.ts'
import type { RequestObserver } from './request-observer.ts'
import { Sweep } from './sweep.ts'
import { UpstreamPools } from './upstream/upstream-pool.ts'

export type { Arrival } from './client-connection.ts'

export interface HttpFrontDeps {
  readonly routes: Routes
  readonly traffic: Traffic
  readonly observer?: RequestObserver
  /** Public port P is reached on P + offset; clients see the sum. */
  readonly portOffset: number
  /** Whether answers carry `Server-Timing` with the parts of their latency. */
  readonly serverTiming?: boolean
  /**
   * Whether `Forwarded` and `X-Forwarded-*` of this peer are believed and extended. If it is absent, no
   * peer is trusted.
   */
  readonly trustsPeer?: TrustsPeer
  /** Set if requests are traced. */
  readonly tracer?: Tracer | undefined
  readonly limits?: Partial<HttpLimits>
  /**
   * Whether the fast road is open; it is if this is absent. Tests close it to have all requests on the
   * full road.
   */
  readonly fastRoad?: boolean
  /** Called for the log on a fault of the gateway itself; the client is answered 500. */
  readonly onError?: (error: unknown) => void
}

/**
 * Speaks HTTP on connections that its caller accepted and, if `secure`, decrypted. It owns every connection
 * that it was given: it closes the connection, and no error of it reaches the caller.
 */
export interface HttpFront {
  serveHttp1(socket: Socket | TLSSocket, on: Arrival): ConnectionUse
  /** Serves a connection that agreed on `h2` by ALPN. */
  serveHttp2(socket: TLSSocket, on: Arrival): ConnectionUse
  /**
   * Closes the idle upstream connections of that boot at once, and those in use when they are released: the
   * boot is over, or its lease is given back. Repeats are harmless; a later admission of the same boot
   * connects again.
   */
  forget(instanceUuid: string, boot: number): void
  /**
   * Prepares for the end without a client noticing. Idle connections stay open, because a client may be
   * sending its next request at this moment; it is answered, as the last one of its connection.
   */
  retire(): void
  /** Accepts no more requests, lets those in flight continue for `graceMs`, then closes everything. */
  close(options?: { readonly graceMs?: number }): Promise<void>
  readonly connectionCount: number
}

const clientProbeMs = 60_000
const closePollMs = 20

export function createHttpFront(deps: HttpFrontDeps): HttpFront {
  const limits: HttpLimits = { ...defaultHttpLimits, ...deps.limits }
  const sweep = new Sweep(shortestWatched(limits))
  const parts: FrontParts = {
    routes: deps.routes,
    traffic: deps.traffic,
    observer: deps.observer,
    serverTiming: deps.serverTiming ?? false,
    tracer: deps.tracer,
    limits,
    pools: new UpstreamPools({ limits, sweep }),
    sweep,
    onError: deps.onError ?? (() => undefined),
  }
  const http1 = new Http1Server(parts)
  const fast = new FastServer(parts, http1)
  const { fastRoad = true } = deps
  const http2 = new Http2Server(parts)
  const receive = (socket: Socket, arrival: Arrival, isHttp2: boolean): ClientConnection => {
    socket.setNoDelay(true)
    // A client that vanished without a word must not keep an instance awake for ever.
    socket.setKeepAlive(true, clientProbeMs)
    const { portOffset, trustsPeer } = deps
    return new ClientConnection({ socket, arrival, http2: isHttp2, portOffset, trustsPeer })
  }
  const count = (): number => fast.size + http1.size + http2.size
  return {
    serveHttp1: (socket, on) => (fastRoad ? fast : http1).serve(socket, receive(socket, on, false)),
    serveHttp2: (socket, on) => http2.serve(socket, receive(socket, on, true)),
    forget: (instanceUuid, boot) => parts.pools.forget(instanceUuid, boot),
    retire: () => {
      fast.retire()
      http1.retire()
      http2.retire()
    },
    close: async ({ graceMs = 0 } = {}) => {
      const untilMs = performance.now() + graceMs
      http2.drain()
      do {
        fast.drain()
        http1.drain()
        await new Promise((resolve) => setTimeout(resolve, closePollMs))
      } while (count() > 0 && performance.now() < untilMs)
      fast.close()
      http1.close()
      http2.close()
      parts.pools.close()
      parts.sweep.close()
      // Destroyed connections report their end in a later turn.
      await new Promise((resolve) => setImmediate(resolve))
    },
    get connectionCount() {
      return count()
    },
  }
}

function shortestWatched(limits: HttpLimits): number {
  const { requestBodyIdleMs, clientStallMs, responseHeaderMs, responseIdleMs } = limits
  const { upstreamIdleMs, headerMs, keepAliveMs } = limits
  const ofRequests = Math.min(requestBodyIdleMs, clientStallMs, responseHeaderMs, responseIdleMs)
  return Math.min(ofRequests, upstreamIdleMs, headerMs, keepAliveMs)
}
