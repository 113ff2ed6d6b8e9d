import type { Socket } from 'node:net'
import type { RouteService } from '../../domain/service/route-feed.ts'
import { Standing } from '../clients/connection-use.ts'
import type { ConnectionUse } from '../clients/connection-use.ts'
import { defaultHttpLimits } from '../http/http-limits.ts'
import { connectUpstream } from '../http/upstream/upstream-address.ts'
import type { Admission, Refusal, Traffic } from '../traffic.ts'
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
      const take = (outcome: Admission | Refusal): void => {
        if (!outcome.admitted) socket.destroy()
        else connectTo(outcome, use, (error) => failed(outcome, error))
      }
      let askedAgain = false
      const ask = (onlyCurrent: boolean): void => {
        const outcome = options.traffic.admit({
          service,
          port,
          kind: 'connection',
          signal: gone.signal,
          onlyCurrent,
        })
        if (outcome instanceof Promise) void outcome.then(take)
        else take(outcome)
      }
      const failed = ({ rolloutUuid, slept }: Admission, error: Error): void => {
        // It fell asleep meanwhile, and may be awake by now, on another host.
        if (slept && !askedAgain) {
          askedAgain = true
          return ask(false)
        }
        options.onUpstreamError?.(error)
        // A new version that accepts no connection must cost no connection of a client.
        if (rolloutUuid !== undefined) ask(true)
        else socket.destroy()
      }
      ask(false)
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

/** `failed` is called if the instance accepts no connection. The admission is over by then. */
function connectTo(admission: Admission, use: TcpUse, failed: (error: Error) => void): void {
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
      admission.done()
      failed(result)
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
