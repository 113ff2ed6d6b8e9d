import type { Socket } from 'node:net'
import { ProxyHeaderFault, readProxyHeader } from './proxy-header.ts'

export interface ProxyHeaderOptions {
  /** The longest time until the header is complete, or until a byte says that there is none. */
  readonly limitMs: number
  /** `client` is the address that the header gives; undefined if it gives none or if there is no header. */
  readonly onClient: (client: string | undefined) => void
  /** The caller has to close the connection. */
  readonly onFault: (fault: ProxyHeaderFault) => void
}

/**
 * Takes the PROXY header from the beginning of a connection, if there is one. At `onClient` the socket is as
 * if it had just been accepted; what came after the header, or instead of one, is put back. At most one of
 * the callbacks is called, once. None is called if the connection closes before, or says nothing: proxies
 * also connect to see whether somebody listens.
 */
export function takeProxyHeader(socket: Socket, { limitMs, onClient, onFault }: ProxyHeaderOptions): void {
  // It stays small: only an incomplete header is kept, and its length is bounded.
  let received: Buffer = Buffer.alloc(0)
  const fail = (fault: ProxyHeaderFault): void => {
    stop()
    if (received.length === 0) socket.destroy()
    else onFault(fault)
  }
  const take = (): void => {
    for (let chunk = read(socket); chunk !== null; chunk = read(socket)) {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const reading = readProxyHeader(received)
      if (reading.kind === 'incomplete') continue
      if (reading.kind === 'faulty') return fail(reading.fault)
      stop()
      const rest = reading.kind === 'none' ? received : received.subarray(reading.bytes)
      const client = reading.kind === 'none' ? undefined : reading.client
      if (rest.length > 0) socket.unshift(rest)
      // In the next tick the socket has forgotten that somebody waited for `readable`.
      process.nextTick(() => {
        if (!socket.destroyed) onClient(client)
      })
      return
    }
  }
  const ended = (): void => fail(ProxyHeaderFault.Ended)
  const limit = setTimeout(() => fail(ProxyHeaderFault.Late), limitMs)
  const stop = (): void => {
    clearTimeout(limit)
    socket.off('readable', take).off('end', ended).off('close', stop)
  }
  socket.on('readable', take).on('end', ended).on('close', stop)
}

function read(socket: Socket): Buffer | null {
  return socket.read() as Buffer | null
}
