import type { IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { WebSocket } from 'ws'
import { ApiFailure } from '../../client/api-failure.ts'
import { baseAddress, headersOf } from '../../client/client.ts'
import type { ApiAccess } from '../../client/client.ts'
import { maxExecMessageBytes } from '../../domain/instance/exec-protocol.ts'

const connectLimitMs = 30_000

/** What a WebSocket is opened for: a program, a copy or a connection. */
type Purpose = 'exec' | 'archive' | 'connect'

/** Opens the WebSocket for one of them. Throws `ApiFailure` if the API refuses or does not answer. */
export async function openExec(access: ApiAccess, object: string, purpose: Purpose): Promise<WebSocket> {
  const url = new URL(`${baseAddress(access.address)}/v1/instances/${encodeURIComponent(object)}/${purpose}`)
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:'
  const socket = new WebSocket(url, {
    headers: headersOf(access),
    handshakeTimeout: connectLimitMs,
    maxPayload: maxExecMessageBytes,
    perMessageDeflate: false,
  })
  return await new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket))
    socket.once('unexpected-response', (_, response: IncomingMessage) => {
      void refusalOf(response).then(reject)
    })
    socket.on('error', (cause) =>
      reject(new ApiFailure(`${url.origin} does not answer: ${cause.message}`, {})),
    )
  })
}

interface Refusal {
  readonly message?: string
  readonly errors?: readonly { readonly error?: number; readonly message?: string }[]
  readonly data?: { readonly instances?: readonly { readonly error?: number; readonly message?: string }[] }
}

async function refusalOf(response: IncomingMessage): Promise<ApiFailure> {
  const { statusCode = 0 } = response
  const answer = (await json(response).catch(() => ({}))) as Refusal
  const [first] = answer.data?.instances ?? answer.errors ?? []
  const message = first?.message ?? answer.message ?? `the API answered ${String(statusCode)}`
  return new ApiFailure(message, {
    httpStatus: statusCode,
    ...(first?.error === undefined ? {} : { code: first.error }),
  })
}
