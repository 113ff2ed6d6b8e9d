import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { SecureContext, TLSSocketOptions } from 'node:tls'
import { peekHello } from './hello-reader.ts'
import { plainName } from './client-hello.ts'
import type { ClientHello } from './client-hello.ts'
import type { ServerContexts } from './server-contexts.ts'

/** How a TLS handshake came out. */
export const HandshakeOutcome = {
  Full: 'full',
  Resumed: 'resumed',
  /** An authority saw the certificate of its challenge, which is all that it came for. */
  Challenge: 'challenge',
  /** The client gave up, spoke no TLS or none that the gateway speaks, or took too long. */
  Failed: 'failed',
  /** The name is served, but its certificate has not been issued yet. */
  NoCertificate: 'no-certificate',
  UnusableCertificate: 'unusable-certificate',
} as const
export type HandshakeOutcome = (typeof HandshakeOutcome)[keyof typeof HandshakeOutcome]

export interface HandshakeOptions {
  readonly contexts: ServerContexts
  /** The longest time from the accepted connection to the end of the handshake, the first byte included. */
  readonly limitMs: number
  /** Whether HTTP is spoken on the port, so that ALPN chooses its version. */
  readonly http: boolean
  /** Whether authorities look for challenges on the port. */
  readonly challenges: boolean
  readonly onOutcome: (outcome: HandshakeOutcome) => void
  readonly onConnection: (socket: TLSSocket) => void
}

/** The protocol of TLS-ALPN-01 (RFC 8737). A connection under it is closed after the handshake. */
export const challengeProtocol = 'acme-tls/1'
const httpVersions = ['h2', 'http/1.1'] as const
/** A fatal alert, `unrecognized_name`, as the bytes of its record: nothing was encrypted yet. */
const unrecognizedName = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x70])
const noHello: ClientHello = { serverName: '', protocols: [] }

/**
 * Speaks TLS on a connection from its first byte. The client's hello is read before TLS begins, because
 * OpenSSL resumes a session before it says which name was asked for. So the tickets of one name are of no
 * use for another.
 */
export function shakeHands(raw: Socket, options: HandshakeOptions): void {
  const { onOutcome } = options
  let over = false
  const limit = setTimeout(() => {
    end(HandshakeOutcome.Failed)
    raw.destroy()
  }, options.limitMs)
  const end = (outcome: HandshakeOutcome): boolean => {
    if (over) return false
    over = true
    onOutcome(outcome)
    return true
  }
  raw.on('error', () => raw.destroy())
  raw.once('close', () => {
    clearTimeout(limit)
    end(HandshakeOutcome.Failed)
  })
  peekHello(raw, (hello = noHello) => {
    const answer = answerTo(hello, options)
    if (answer.context === undefined) {
      end(answer.outcome)
      // The client now has to close the connection. The time limit still applies.
      raw.end(unrecognizedName)
      raw.resume()
      return
    }
    secure(raw, answer.context, chooserFor(hello, answer.challenge, options), (socket) => {
      clearTimeout(limit)
      if (answer.challenge) return end(HandshakeOutcome.Challenge) ? socket.destroySoon() : socket.destroy()
      if (!isFor(socket, hello.serverName, options.contexts)) socket.destroy()
      else if (end(socket.isSessionReused() ? HandshakeOutcome.Resumed : HandshakeOutcome.Full)) {
        // The name for which the certificate was chosen decides which service the connection is for.
        options.onConnection(Object.assign(socket, { servername: hello.serverName }))
      }
    })
  })
}

/**
 * Whether the connection is for `name`. The gateway reads the hello apart from OpenSSL, and both must have
 * read the same name.
 */
function isFor(socket: TLSSocket, name: string, contexts: ServerContexts): boolean {
  const read: unknown = 'servername' in socket ? socket.servername : undefined
  const theirs = typeof read === 'string' ? plainName(read) : ''
  if (theirs === name) return true
  // A session of TLS 1.2 keeps the name with which it was made, or none. Its ticket says that the owner is
  // the same.
  return socket.isSessionReused() && (theirs === '' || contexts.areOne(theirs, name))
}

type Answer =
  | { readonly context: SecureContext; readonly challenge: boolean }
  | { readonly context: undefined; readonly outcome: HandshakeOutcome }

function answerTo(
  { serverName, protocols }: ClientHello,
  { contexts, challenges }: HandshakeOptions,
): Answer {
  if (challenges && protocols.includes(challengeProtocol)) {
    const context = contexts.ofChallenge(serverName)
    if (context !== undefined) return { context, challenge: true }
  }
  const shown = contexts.of(serverName)
  if (shown.kind === 'context') return { context: shown.context, challenge: false }
  return {
    context: undefined,
    outcome: shown.kind === 'pending' ? HandshakeOutcome.NoCertificate : HandshakeOutcome.UnusableCertificate,
  }
}

type ChooseProtocol = (offer: { readonly protocols: readonly string[] }) => string | undefined

/**
 * Returns the function that agrees on a protocol, or undefined if none is to be agreed on; the handshake
 * then goes on. If that function finds no protocol, it ends the handshake.
 */
function chooserFor(
  { protocols }: ClientHello,
  challenge: boolean,
  { http }: HandshakeOptions,
): ChooseProtocol | undefined {
  if (challenge) return chooseChallenge
  if (http) return chooseHttp
  return applicationProtocols(protocols).length > 1 ? undefined : chooseOnly
}

const chooseChallenge: ChooseProtocol = ({ protocols }) =>
  protocols.includes(challengeProtocol) ? challengeProtocol : undefined
const chooseHttp: ChooseProtocol = ({ protocols }) =>
  httpVersions.find((version) => protocols.includes(version))
/**
 * Agrees on the client's protocol if the client offers just one. Without HTTP the application speaks the
 * protocol, and nobody asks it which. A client that offers several would take the gateway's guess for the
 * application's word.
 */
const chooseOnly: ChooseProtocol = ({ protocols }) => {
  const [only, ...others] = applicationProtocols(protocols)
  return others.length === 0 ? only : undefined
}

function applicationProtocols(protocols: readonly string[]): readonly string[] {
  return protocols.filter((each) => each !== challengeProtocol)
}

/** Calls `done` if the handshake succeeds. A connection whose handshake fails is closed. */
function secure(
  raw: Socket,
  secureContext: SecureContext,
  ALPNCallback: ChooseProtocol | undefined,
  done: (socket: TLSSocket) => void,
): void {
  // Node has this callback, but its types for a socket without a server lack it.
  const options: TLSSocketOptions & { readonly ALPNCallback: ChooseProtocol | undefined } = {
    isServer: true,
    secureContext,
    ALPNCallback,
  }
  const socket = new TLSSocket(raw, options)
  const destroy = (): void => void socket.destroy()
  socket.on('error', destroy)
  // Node reports an invalid record after the handshake by this event alone, which it means for its own
  // servers.
  socket.on('_tlsError', destroy)
  socket.once('secure', () => {
    // Node's own servers set this, and HTTP/2 waits for it.
    Object.assign(socket, { secureConnecting: false })
    done(socket)
  })
}
