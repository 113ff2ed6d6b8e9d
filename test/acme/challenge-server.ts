import { once } from 'node:events'
import { createServer } from 'node:http'
import { createSecureContext, createServer as createTlsServer } from 'node:tls'
import type { KeyPairPem } from '../../src/x509/key-pair.ts'

/** A server that shows challenges as a gateway does, and does nothing else. */
export interface ChallengeServer {
  /** Answers by token. */
  readonly http: Map<string, string>
  /** Paths that were asked for, in order. */
  readonly asked: string[]
  /** Certificates of handshakes with `acme-tls/1`, by name. */
  readonly tls: Map<string, KeyPairPem>
  close(): Promise<void>
}

const prefix = '/.well-known/acme-challenge/'

export async function startChallengeServer(ports: {
  readonly httpPort: number
  readonly tlsPort: number
}): Promise<ChallengeServer> {
  const http = new Map<string, string>()
  const tls = new Map<string, KeyPairPem>()
  const asked: string[] = []
  const httpServer = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const answer = http.get(path.slice(prefix.length))
    response.statusCode = answer === undefined || !path.startsWith(prefix) ? 404 : 200
    response.end(answer)
  })
  const tlsServer = createTlsServer({
    ALPNProtocols: ['acme-tls/1'],
    SNICallback(name, done) {
      const pair = tls.get(name)
      done(
        pair ? null : new Error('no such name'),
        pair && createSecureContext({ cert: pair.chain, key: pair.key }),
      )
    },
  })
  tlsServer.on('tlsClientError', () => undefined)
  httpServer.listen(ports.httpPort, '127.0.0.1')
  tlsServer.listen(ports.tlsPort, '127.0.0.1')
  await Promise.all([once(httpServer, 'listening'), once(tlsServer, 'listening')])
  return {
    http,
    asked,
    tls,
    async close() {
      httpServer.closeAllConnections()
      const closed = [once(httpServer, 'close'), once(tlsServer, 'close')]
      httpServer.close()
      tlsServer.close()
      await Promise.all(closed)
    },
  }
}
