import { connect, createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'

/** The result of one handshake that succeeded. */
export interface Handshake {
  /** The time from the first packet of the connection until the client may send. */
  readonly tookMs: number
  readonly serialNumber: string
  readonly resumed: boolean
  /** The session to use in the next handshake with the same name: a new one, or the one that was resumed. */
  readonly session: Buffer
}

/** How long a handshake may take. A longer one counts as failed. */
const limitMs = 10_000

/**
 * Makes connections only for their handshakes. It accepts only certificates of one authority, for exactly
 * the name that it asked for.
 */
export class HandshakeClient {
  readonly #port: number
  readonly #secureContext: SecureContext

  constructor({ port, root }: { readonly port: number; readonly root: string }) {
    this.#port = port
    this.#secureContext = createSecureContext({ ca: root, minVersion: 'TLSv1.3' })
  }

  /**
   * Makes one handshake. Rejects if it fails. Resolves when the connection is closed on both sides, so that
   * it does not slow the next one down.
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
