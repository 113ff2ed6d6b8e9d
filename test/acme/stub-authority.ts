import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * An authority that does what real ones do on bad days. It speaks without TLS, takes every request as it is,
 * and checks no signature. It answers as the test says; if the test says nothing, it answers like an
 * authority that issues for everybody.
 */
export interface StubAuthority {
  readonly url: string
  readonly directoryUrl: string
  /** Answers by path, such as `/order/1`. One that returns `false` leaves the answer to the stub. */
  readonly answers: Map<string, StubAnswer>
  readonly requests: StubRequest[]
  /** The members of the directory. Tests may add some. */
  readonly directory: Record<string, unknown>
  close(): Promise<void>
}

export interface StubRequest {
  readonly method: string
  readonly path: string
  readonly header: Readonly<Record<string, unknown>>
  readonly payload: unknown
}

export type StubAnswer = (request: StubRequest, response: ServerResponse) => unknown

export async function startStubAuthority(): Promise<StubAuthority> {
  const answers = new Map<string, StubAnswer>()
  const requests: StubRequest[] = []
  const directory: Record<string, unknown> = {}
  let nonces = 0
  const server = createServer((request, response) => {
    void readRequest(request).then((seen) => {
      requests.push(seen)
      response.setHeader('replay-nonce', `nonce-${++nonces}`)
      const answer = answers.get(seen.path)
      if (answer === undefined || answer(seen, response) === false) usual(seen, response, { url, directory })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    directoryUrl: `${url}/directory`,
    answers,
    requests,
    directory,
    close: () => closed(server),
  }
}

async function readRequest(request: IncomingMessage): Promise<StubRequest> {
  let text = ''
  request.setEncoding('utf8')
  for await (const chunk of request) text += String(chunk)
  const jws = text === '' ? {} : (JSON.parse(text) as { protected?: string; payload?: string })
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    header: jws.protected === undefined ? {} : (decoded(jws.protected) as Record<string, unknown>),
    payload: jws.payload === undefined || jws.payload === '' ? undefined : decoded(jws.payload),
  }
}

function decoded(text: string): unknown {
  return JSON.parse(Buffer.from(text, 'base64url').toString())
}

/** Answers as an authority for which every name is proved already. */
function usual(
  { path }: StubRequest,
  response: ServerResponse,
  { url, directory }: { readonly url: string; readonly directory: Record<string, unknown> },
): void {
  const order = { status: 'ready', authorizations: [], finalize: `${url}/finalize/1` }
  if (path === '/directory') return json(response, 200, { ...documentOf(url), ...directory })
  if (path === '/nonce') return void response.end()
  if (path === '/account') return json(response.setHeader('location', `${url}/account/1`), 201, {})
  if (path === '/order') return json(response.setHeader('location', `${url}/order/1`), 201, order)
  if (path === '/order/1') return json(response, 200, order)
  problem(response, 404, 'malformed', 'there is nothing here')
}

function documentOf(url: string) {
  return { newNonce: `${url}/nonce`, newAccount: `${url}/account`, newOrder: `${url}/order` }
}

export function json(response: ServerResponse, status: number, value: unknown): void {
  response.statusCode = status
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(value))
}

export function problem(response: ServerResponse, status: number, type: string, detail: string): void {
  json(response, status, { type: `urn:ietf:params:acme:error:${type}`, detail, status })
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  const done = once(server, 'close')
  server.close()
  await done
}
