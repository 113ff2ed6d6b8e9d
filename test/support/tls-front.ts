import { once } from 'node:events'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import type { Duplex } from 'node:stream'
import { makeTestCertificate } from './certificate-maker.ts'
import type { MadeCertificate } from './certificate-maker.ts'

/** The name that the front's certificate has, and no address has. */
export const frontName = 'temporal.example.test'

/** A server of TLS before a server of HTTP/2 that has none. It takes only clients with a certificate. */
export interface TlsFront {
  readonly address: string
  /** The authority of the front's certificate and of those of its clients. */
  readonly authority: MadeCertificate
  /** A client's certificate and key that the front takes. */
  readonly client: MadeCertificate
  /** How many connections were made and taken. */
  readonly taken: () => number
  close(): Promise<void>
}

/** Starts a front before the server at `address`, which is `host:port`. */
export async function startTlsFront(address: string): Promise<TlsFront> {
  const authority = await makeTestCertificate({ subject: 'CN=authority of a front', authority: true })
  const own = await makeTestCertificate({ subject: `CN=${frontName}`, names: [frontName], issuer: authority })
  const client = await makeTestCertificate({ subject: 'CN=roost', issuer: authority })
  const sockets = new Set<Duplex>()
  let taken = 0
  const keep = <Socket extends Duplex>(socket: Socket): Socket => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => sockets.delete(socket))
    return socket
  }
  const { hostname, port } = new URL(`tcp://${address}`)
  const server = createServer(
    {
      cert: own.pem,
      key: own.pkey,
      ca: authority.pem,
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: ['h2'],
    },
    (near) => {
      taken += 1
      const far = connect({ host: hostname, port: Number(port) })
      keep(near).pipe(keep(far)).pipe(near)
      near.once('close', () => far.destroy())
      far.once('close', () => near.destroy())
    },
  )
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    authority,
    client,
    taken: () => taken,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
