import type { Socket } from 'node:net'
import type { RouteService } from '../../domain/service/route-feed.ts'
import { Standing } from '../clients/connection-use.ts'
import type { ConnectionUse } from '../clients/connection-use.ts'
import { defaultHttpLimits } from '../http/http-limits.ts'
import { connectUpstream } from '../http/upstream/upstream-address.ts'
import type { Admission, Traffic } from '../traffic.ts'
import { TcpRelay } from './tcp-relay.ts'

export interface TcpFront {
  /** Passes bytes between the client and an instance. From now on the front owns the connection. */
  serve(socket: Socket, to: { readonly service: RouteService; readonly port: number }): ConnectionUse
  readonly connectionCount: number
  /** Ends all connections. */
  close(): void
}

/**
 * How long a client may be quiet before it is probed. A client that vanished without a word must not keep an
 * instance awake for ever.
 */
const clientProbeMs = 60_000

export function createTcpFront(options: {
  readonly traffic: Traffic
  /** Called for the metrics when an instance did not accept a connection. */
  readonly onUpstreamError?: (error: Error) => void
}): TcpFront {
  const open = new Set<Socket>()
  return {
    serve(socket, { service, port }) {
      const use = new TcpUse(socket)
      open.add(socket)
      const gone = new AbortController()
      socket.setNoDelay(true)
      socket.setKeepAlive(true, clientProbeMs)
      socket.on('error', () => socket.destroy())
      socket.once('close', () => {
        open.delete(socket)
        gone.abort()
      })
      // A client may end its side while it waits, and still want the answer to what it has sent. So the end
      // of its side does not count as the end of the connection.
      const take = (admission: Admission): void => connectTo(admission, use, options.onUpstreamError)
      const outcome = options.traffic.admit({ service, port, kind: 'connection', signal: gone.signal })
      if (!(outcome instanceof Promise)) {
        if (outcome.admitted) take(outcome)
        else socket.destroy()
        return use
      }
      void outcome.then((later) => {
        if (later.admitted) take(later)
        else socket.destroy()
      })
      return use
    },
    get connectionCount() {
      return open.size
    },
    close() {
      for (const socket of open) socket.destroy()
    },
  }
}

/** A TCP connection as it is judged when connections have to be closed to make room for others. */
class TcpUse implements ConnectionUse {
  readonly client: Socket
  /** The relay; absent while the instance is being woken or the gateway connects to it. */
  relay: TcpRelay | undefined
  readonly #takenAtMs = performance.now()

  constructor(client: Socket) {
    this.client = client
  }

  get standing(): Standing {
    return this.relay === undefined ? Standing.Busy : Standing.Lasting
  }

  get movedAtMs(): number {
    return this.relay?.movedAtMs ?? this.#takenAtMs
  }

  get heldBytes(): number {
    return this.client.readableLength + (this.relay?.heldBytes ?? 0)
  }

  end(): void {
    this.client.destroy()
  }
}

function connectTo(admission: Admission, use: TcpUse, onUpstreamError?: (error: Error) => void): void {
  const { client } = use
  if (client.destroyed) {
    admission.done()
    return
  }
  const giveUp = connectUpstream(
    { host: admission.host, port: admission.port },
    { fresh: admission.fresh, limits: defaultHttpLimits },
    (result) => {
      client.off('close', gone)
      stopListening()
      if (!(result instanceof Error)) {
        use.relay = new TcpRelay(client, result, admission)
        use.relay.start()
        return
      }
      onUpstreamError?.(result)
      admission.done()
      client.destroy()
    },
  )
  const gone = (): void => {
    giveUp()
    stopListening()
    admission.done()
  }
  const stopListening = admission.onEnd((why) => {
    if (why !== 'close') client.destroy()
  })
  client.once('close', gone)
}
