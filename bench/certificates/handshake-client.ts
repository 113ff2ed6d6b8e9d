import { connect, createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'

/** Of one handshake that succeeded. */
export interface Handshake {
  /** From the first packet of the connection until the client may send. */
  readonly tookMs: number
  readonly serialNumber: string
  readonly resumed: boolean
  /** For more with the same name: its own, or the one that it resumed, which gets no other. */
  readonly session: Buffer
}

/** A stuck one counts as failed. */
const limitMs = 10_000

/**
 * Makes connections for the sake of their handshakes, and takes no certificate but those of one authority for
 * the very name.
 */
export class HandshakeClient {
  readonly #port: number
  readonly #secureContext: SecureContext

  constructor({ port, root }: { readonly port: number; readonly root: string }) {
    this.#port = port
    this.#secureContext = createSecureContext({ ca: root, minVersion: 'TLSv1.3' })
  }

  /**
   * Rejects where it fails. Resolves when the connection is closed on both sides, so that one does not burden
   * the next.
   */
  shake(servername: string, session?: Buffer): Promise<Handshake> {
    const startedMs = performance.now()
    const client = connect({
      port: this.#port,
      host: '127.0.0.1',
      servername,
      secureContext: this.#secureContext,
      ...(session === undefined ? {} : { session }),
    })
    let seen: Omit<Handshake, 'session'> | undefined
    let next = session
    let problem = new Error('the connection was closed before the end of the handshake')
    const endWhenDone = (): void => {
      if (seen !== undefined && (seen.resumed || next !== session)) client.end()
    }
    const limit = setTimeout(() => client.destroy(new Error('the handshake takes too long')), limitMs)
    client.once('secureConnect', () => {
      const tookMs = performance.now() - startedMs
      const serialNumber = client.getPeerX509Certificate()?.serialNumber ?? ''
      seen = { tookMs, serialNumber, resumed: client.isSessionReused() }
      client.resume()
      endWhenDone()
    })
    client.once('session', (given: Buffer) => {
      next = given
      endWhenDone()
    })
    client.on('error', (error) => (problem = error))
    return new Promise((resolve, reject) => {
      client.once('close', () => {
        clearTimeout(limit)
        if (seen === undefined || next === undefined) reject(problem)
        else resolve({ ...seen, session: next })
      })
    })
  }
}
