import { createPrivateKey, createPublicKey } from 'node:crypto'
import { calculateJwkThumbprint, FlattenedSign } from 'jose'
import type { JWK, JWSHeaderParameters } from 'jose'
import { MalformedDocument, problemIn, readDirectory } from './acme-documents.ts'
import type { Directory } from './acme-documents.ts'
import type { AcmeAnswer, AcmeCall, AcmeHttp } from './acme-http.ts'
import { issueErrorOf, shortType } from './authority-problem.ts'
import { IssueError } from './issuer.ts'
import { retryAtMs } from './retry-after.ts'

/**
 * Signed requests to one authority (RFC 8555, 6). Nonces are kept from every answer and used for later
 * requests. A request whose nonce was refused is repeated with another. Answers of 400 and above are thrown
 * as `IssueError`. There may be any number of callers at the same time.
 */
export interface AcmeSession {
  readonly authority: string
  directory(): Promise<Directory>
  get(url: string, what: string): Promise<AcmeAnswer>
  /** Sends a signed request. If `payload` is undefined, the request asks for a document (POST-as-GET). */
  post(call: SignedCall, signer: AccountSigner): Promise<AcmeAnswer>
  close(): Promise<void>
}

export interface SignedCall {
  readonly url: string
  readonly payload: object | undefined
  /** What the request asks for, as words for the error: `the order`. */
  readonly what: string
  readonly accept?: string
  readonly maxBytes?: number
  readonly signal?: AbortSignal | undefined
}

/** An account's key, and the account's URL. The URL is undefined until the authority has given it. */
export interface AccountSigner {
  readonly key: ReturnType<typeof createPrivateKey>
  readonly publicJwk: JWK
  /** The key's thumbprint (RFC 7638), which ties a challenge to the account. */
  readonly thumbprint: string
  readonly accountUrl: string | undefined
}

const signatureAlgorithm = 'ES256'
/**
 * The most repeats of one request because of its nonce. Pebble refuses one nonce in twenty. Other
 * authorities refuse old nonces, and those that another of their sites gave.
 */
const maxNonceRepeats = 8
/** The most unused nonces that are kept: as many as requests are in flight at once. Older ones expire. */
const maxNonces = 8
/** How long a directory is used before it is read again. Its content changes over months. */
const directoryLifeMs = 3_600_000

export async function signerOf(keyPem: string, accountUrl: string | undefined): Promise<AccountSigner> {
  const publicJwk = createPublicKey(keyPem).export({ format: 'jwk' }) as JWK
  const thumbprint = await calculateJwkThumbprint(publicJwk)
  return { key: createPrivateKey(keyPem), publicJwk, thumbprint, accountUrl }
}

export function createAcmeSession(http: AcmeHttp, nowMs: () => number): AcmeSession {
  const { authority, directoryUrl } = http
  const nonces: string[] = []
  let known: { readonly directory: Directory; readonly untilMs: number } | undefined

  /**
   * Sends the call and keeps the nonce. Refuses a URL without TLS if the authority itself is reached with
   * TLS.
   */
  async function send(call: AcmeCall): Promise<AcmeAnswer> {
    if (directoryUrl.startsWith('https:') && !call.url.startsWith('https:'))
      throw new IssueError('later', `${authority} names ${call.url}, which is without TLS`)
    const answer = await http.send(call)
    if (answer.nonce !== undefined && nonces.push(answer.nonce) > maxNonces) nonces.shift()
    return answer
  }

  async function get(url: string, what: string): Promise<AcmeAnswer> {
    return accepted(await send({ method: 'GET', url }), what)
  }

  async function directory(): Promise<Directory> {
    if (known && nowMs() < known.untilMs) return known.directory
    const answer = await get(directoryUrl, 'its directory')
    const read = readAnswer(answer, authority, readDirectory)
    known = { directory: read, untilMs: nowMs() + directoryLifeMs }
    return read
  }

  /**
   * Uses the nonce that was received last. The older ones serve only when many requests come at once;
   * otherwise they expire.
   */
  async function takeNonce(signal: AbortSignal | undefined): Promise<string> {
    const { newNonce } = await directory()
    const kept = nonces.pop()
    if (kept !== undefined) return kept
    const answer = accepted(await send({ method: 'HEAD', url: newNonce, signal }), 'a nonce')
    const fresh = nonces.pop()
    if (fresh === undefined) throw new IssueError('later', `${answer.url} gave no nonce`)
    return fresh
  }

  async function post(call: SignedCall, signer: AccountSigner): Promise<AcmeAnswer> {
    const { url, payload, signal, accept, maxBytes } = call
    for (let repeats = 0; ; repeats++) {
      const body = await signed({ url, payload, nonce: await takeNonce(signal) }, signer)
      const answer = await send({
        method: 'POST',
        url,
        body,
        signal,
        ...(accept !== undefined && { accept }),
        ...(maxBytes !== undefined && { maxBytes }),
      })
      if (repeats < maxNonceRepeats && isBadNonce(answer)) continue
      return accepted(answer, call.what)
    }
  }

  function accepted(answer: AcmeAnswer, what: string): AcmeAnswer {
    const { status, body, retryAfter } = answer
    if (status >= 200 && status < 300) return answer
    if (status < 400) throw new IssueError('later', `${authority} answered ${status} for ${what}`)
    const retryAt = retryAtMs(retryAfter, nowMs())
    throw issueErrorOf(problemIn(body, status), {
      authority,
      what,
      ...(retryAt !== undefined && { retryAt }),
    })
  }

  return { authority, directory, get, post, close: () => http.close() }
}

function isBadNonce({ status, body }: AcmeAnswer): boolean {
  return status >= 400 && shortType(problemIn(body, status).type) === 'badNonce'
}

async function signed(
  call: { readonly url: string; readonly payload: object | undefined; readonly nonce: string },
  { key, publicJwk, accountUrl }: AccountSigner,
): Promise<string> {
  const { url, payload, nonce } = call
  const header: JWSHeaderParameters = {
    alg: signatureAlgorithm,
    nonce,
    url,
    ...(accountUrl === undefined ? { jwk: publicJwk } : { kid: accountUrl }),
  }
  const text = payload === undefined ? '' : JSON.stringify(payload)
  const jws = await new FlattenedSign(new TextEncoder().encode(text)).setProtectedHeader(header).sign(key)
  return JSON.stringify(jws)
}

/**
 * Reads a document. A malformed document means that the authority has a fault, which has nothing to do with
 * the name. So the error is one of kind `later`.
 */
export function readAnswer<T>(answer: AcmeAnswer, authority: string, read: (body: Buffer) => T): T {
  try {
    return read(answer.body)
  } catch (cause) {
    if (!(cause instanceof MalformedDocument)) throw cause
    throw new IssueError('later', `${authority} does not answer as ACME does: ${cause.message}`, { cause })
  }
}
