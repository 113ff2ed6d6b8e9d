import { Agent } from 'undici'
import type { Dispatcher } from 'undici'
import { isIP } from 'node:net'
import { AddressScope, PortState, RedirectStop, WebAnswer } from '../domain/certificate/attempt-report.ts'
import type { WebSeen } from '../domain/certificate/attempt-report.ts'
import { hostAndPort } from '../domain/host-and-port.ts'
import { printable } from './authority-problem.ts'
import { closedStateOf, connectTimeoutMs } from './port-check.ts'

/**
 * Asks for a challenge's answer as an authority would, at one address of the name. A user chooses the name
 * and its addresses, and what is behind an address may not be the user's. So these rules hold:
 *
 * - The path that is asked for is the challenge's own. Only a redirect from the address in question changes
 *   it.
 * - A redirect leads only to names, and only on the web ports. It leads into private networks only if the
 *   operator allows it and the name itself leads there, and then only to the challenge's own path.
 * - The address that was judged is the one that is connected to: nothing is looked up in between.
 * - A status and some characters of the body are kept only if every answer came from that address and it is
 *   public. Of all other answers one word is kept: whether it was what the challenge expects.
 */
export interface WebQuestion {
  readonly fqdn: string
  readonly address: string
  /** All addresses to which the name leads. */
  readonly ownAddresses: readonly string[]
  readonly token: string
  readonly keyAuthorization: string
  readonly ports: WebPorts
  readonly addressesOf: (name: string) => Promise<readonly string[]>
  readonly asksPrivate: boolean
  readonly scopeOf: (address: string) => AddressScope
  readonly signal: AbortSignal
}

export interface WebPorts {
  readonly httpPort: number
  readonly tlsPort: number
}

const maxRedirects = 5
const answerTimeoutMs = 4_000
/** The most bytes of a body that are read. A key authorization has some hundred bytes. */
const maxBodyBytes = 4_096
const maxHeaderBytes = 8_192
const maxExcerptLength = 100
const maxLocationLength = 300
const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308]

/** Returns what the request found. It never rejects. */
export async function checkWeb(question: WebQuestion): Promise<WebSeen> {
  const agent = new Agent({
    connections: 1,
    pipelining: 0,
    allowH2: false,
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
    maxHeaderSize: maxHeaderBytes,
    // Authorities do not check the certificate here either, because they are only about to issue it.
    connect: { timeout: connectTimeoutMs, rejectUnauthorized: false },
  })
  try {
    return await follow(agent, question)
  } finally {
    await agent.destroy()
  }
}

interface Hop {
  readonly url: URL
  readonly address: string
}

async function follow(agent: Agent, question: WebQuestion): Promise<WebSeen> {
  const { fqdn, address, keyAuthorization } = question
  const scope = question.scopeOf(address)
  const base = { address, scope }
  let hop: Hop = { url: new URL(`http://${fqdn}${challengePath(question)}`), address }
  // Only the verdict is reported about other addresses, and about private ones.
  let isTold = scope === AddressScope.Public
  for (let redirects = 0; ; redirects++) {
    const seen = await ask(agent, hop, question)
    const followed = redirects === 0 ? {} : { redirects }
    if ('state' in seen) {
      return redirects === 0
        ? { ...base, state: seen.state, ...(seen.state === PortState.Open && { answer: WebAnswer.None }) }
        : { ...base, state: PortState.Open, answer: WebAnswer.None, ...followed }
    }
    const { status, body, location } = seen
    const told = isTold ? { status, excerpt: printable(body, maxExcerptLength) } : {}
    if (!redirectStatuses.includes(status)) {
      const isExpected = status === 200 && body.trimEnd() === keyAuthorization
      const verdict = { state: PortState.Open, answer: isExpected ? WebAnswer.Expected : WebAnswer.Other }
      return { ...base, ...verdict, ...followed, ...(isExpected ? {} : told) }
    }
    const next = redirects === maxRedirects ? RedirectStop.TooMany : await nextHop(location, hop, question)
    if (typeof next === 'string') {
      const where = isTold ? { status, location: printable(location, maxLocationLength) } : {}
      return {
        ...base,
        state: PortState.Open,
        answer: WebAnswer.Redirect,
        ...where,
        stopped: next,
        ...followed,
      }
    }
    isTold &&= next.address === address
    hop = next
  }
}

type Asked =
  | { readonly status: number; readonly body: string; readonly location: string | undefined }
  | { readonly state: PortState }

async function ask(agent: Agent, { url, address }: Hop, { ports, signal }: WebQuestion): Promise<Asked> {
  const port = url.protocol === 'https:' ? ports.tlsPort : ports.httpPort
  try {
    const response = await agent.request({
      origin: `${url.protocol}//${hostAndPort({ host: address, port })}`,
      path: url.pathname + url.search,
      method: 'GET',
      headers: { host: url.host, 'user-agent': 'roost/0.1 (self-check)', accept: '*/*' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs + answerTimeoutMs)]),
    })
    const { location } = response.headers
    return {
      status: response.statusCode,
      body: await readStart(response),
      location: Array.isArray(location) ? location[0] : location,
    }
  } catch (error) {
    return { state: closedStateOf(error) ?? PortState.Open }
  }
}

async function readStart(response: Dispatcher.ResponseData): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const body: AsyncIterable<Buffer> = response.body
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    // Leaving the loop closes the connection.
    if (size >= maxBodyBytes) break
  }
  return Buffer.concat(chunks, size).subarray(0, maxBodyBytes).toString()
}

async function nextHop(
  location: string | undefined,
  from: Hop,
  question: WebQuestion,
): Promise<Hop | RedirectStop> {
  if (location === undefined || !URL.canParse(location, from.url.href)) return RedirectStop.NoLocation
  const url = new URL(location, from.url)
  if (!isWebPort(url, question.ports)) return RedirectStop.OtherPort
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return RedirectStop.Address
  const candidates =
    url.hostname === question.fqdn ? [question.address] : await question.addressesOf(url.hostname)
  if (candidates.length === 0) return RedirectStop.NoAddress
  const address = candidates.find((each) => mayAsk(each, url, question))
  return address === undefined ? RedirectStop.Internal : { url, address }
}

/** A port that is written in a URL has to be the web port of the URL's scheme. */
function isWebPort({ protocol, port }: URL, { httpPort, tlsPort }: WebPorts): boolean {
  if (protocol === 'http:') return port === '' || port === String(httpPort)
  return protocol === 'https:' && (port === '' || port === String(tlsPort))
}

function mayAsk(address: string, { pathname, search }: URL, question: WebQuestion): boolean {
  const scope = question.scopeOf(address)
  if (scope !== AddressScope.Internal) return scope === AddressScope.Public
  const { asksPrivate, ownAddresses } = question
  return asksPrivate && ownAddresses.includes(address) && pathname + search === challengePath(question)
}

function challengePath({ token }: WebQuestion): string {
  return `/.well-known/acme-challenge/${token}`
}
