import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/**
 * A relay to a server. While it is cut, connections break and new ones are refused, as if the server were
 * gone.
 */
export interface Relay {
  /** The relay's port on 127.0.0.1. */
  readonly port: number
  cut(): void
  mend(): void
  close(): Promise<void>
}

export async function startRelay(to: { readonly host: string; readonly port: number }): Promise<Relay> {
  const sockets = new Set<Socket>()
  let isCut = false
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    keep(near)
    if (isCut) {
      near.destroy()
      return
    }
    const far = keep(connect(to))
    near.pipe(far).pipe(near)
    near.once('close', () => far.destroy())
    far.once('close', () => near.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true
      cutAll()
    },
    mend() {
      isCut = false
    },
    async close() {
      cutAll()
      server.close()
      await once(server, 'close')
    },
  }
}
