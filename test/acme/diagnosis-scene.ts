import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createDiagnosis } from '../../src/acme/diagnosis.ts'
import type { NameSeen } from '../../src/acme/diagnosis.ts'
import { AddressScope } from '../../src/domain/certificate/attempt-report.ts'
import { issueLeaf, makeRoot } from '../../src/x509/authority.ts'
import { cryptoKeysOf, makeKey } from '../../src/x509/key-pair.ts'

export const token = 'a-token-of-an-authority'
export const keyAuthorization = `${token}.thumbprint`
export const challengePath = `/.well-known/acme-challenge/${token}`

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

/**
 * Web servers on several loopback addresses, all on the same two ports, and a function that looks at names
 * that lead there.
 */
export interface WebScene {
  readonly ports: { readonly httpPort: number; readonly tlsPort: number }
  /** What was asked for, as `<address> <host> <path>`. */
  readonly asked: string[]
  /** The answers of the servers, by address. A server without one answers 404. */
  readonly answers: Map<string, Answer>
  look(fqdn: string, signal?: AbortSignal): Promise<NameSeen>
  /** The same look, if the operator allows private addresses. */
  lookInside(fqdn: string): Promise<NameSeen>
  close(): Promise<void>
}

/**
 * Servers listen at 127.0.0.1 to 127.0.0.4. Here 127.0.0.1 counts as private, 127.0.0.9 as an address that no
 * site can have, and every other address as public.
 */
export async function openWebScene(resolver: string): Promise<WebScene> {
  const asked: string[] = []
  const answers = new Map<string, Answer>()
  const handle: Answer = (request, response) => {
    const address = request.socket.localAddress ?? ''
    asked.push(`${address} ${request.headers.host} ${request.url}`)
    const answer = answers.get(address)
    if (answer) return answer(request, response)
    response.statusCode = 404
    response.end('nothing here')
  }
  const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4']
  const tls = await selfSigned()
  const plain = addresses.map(() => createServer(handle))
  const secure = addresses.map(() => createTlsServer(tls, handle))
  const [httpPort, tlsPort] = [await listenAll(plain, addresses), await listenAll(secure, addresses)]
  const ports = { httpPort, tlsPort }
  const scopeOf = (address: string) =>
    address === '127.0.0.9'
      ? AddressScope.Never
      : address === '127.0.0.1'
        ? AddressScope.Internal
        : AddressScope.Public
  const look = (asksPrivate: boolean, fqdn: string, signal: AbortSignal) =>
    createDiagnosis({ resolver, ports, asksPrivate, scopeOf }).look(
      { fqdn, challenge: { token, keyAuthorization } },
      signal,
    )
  return {
    ports,
    asked,
    answers,
    look: (fqdn, signal = new AbortController().signal) => look(false, fqdn, signal),
    lookInside: (fqdn) => look(true, fqdn, new AbortController().signal),
    async close() {
      for (const server of [...plain, ...secure]) server.closeAllConnections()
      await Promise.all(
        [...plain, ...secure].map(async (server) => {
          const closed = once(server, 'close')
          server.close()
          await closed
        }),
      )
    },
  }
}

/** Lets each server listen at its address, all on the same port. Returns the port. */
async function listenAll(
  servers: readonly ReturnType<typeof createServer>[],
  addresses: readonly string[],
): Promise<number> {
  let port = 0
  for (const [index, server] of servers.entries()) {
    server.listen(port, addresses[index])
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  return port
}

async function selfSigned() {
  const nowMs = Date.now()
  const root = await makeRoot({ commonName: 'nobody' }, nowMs)
  const key = makeKey()
  const cert = await issueLeaf(root, {
    names: ['other.test'],
    publicKey: cryptoKeysOf(key).publicKey,
    notBeforeMs: nowMs - 1_000,
    notAfterMs: nowMs + 86_400_000,
  })
  return { cert, key }
}
