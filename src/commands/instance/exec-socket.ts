import type { IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { WebSocket } from 'ws'
import { ApiFailure } from '../../client/api-failure.ts'
import { baseAddress, headersOf } from '../../client/client.ts'
import type { ApiAccess } from '../../client/client.ts'
import { maxExecMessageBytes } from '../../domain/instance/exec-protocol.ts'

const connectLimitMs = 30_000
/** The API sends a ping so often. */
const silenceMs = 15_000

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
    socket.once('open', () => {
      breakWhenSilent(socket, silenceMs)
      resolve(socket)
    })
    socket.once('unexpected-response', (_, response: IncomingMessage) => {
      void refusalOf(response).then(reject)
    })
    socket.on('error', (cause) =>
      reject(new ApiFailure(`${url.origin} does not answer: ${cause.message}`, {})),
    )
  })
}

/**
 * Breaks the connection off if the API sends nothing for three times `lookEveryMs`. Otherwise a network that
 * drops everything would leave a person at a terminal that passes no key on, and not even Ctrl-C.
 */
export function breakWhenSilent(socket: WebSocket, lookEveryMs: number): void {
  // Looks are counted, because a process that was stopped has heard nothing in all that time.
  let silentLooks = 0
  const heard = () => {
    silentLooks = 0
  }
  socket.on('ping', heard).on('message', heard)
  const timer = setInterval(() => {
    // What is not read from, because the output is slow, is not heard.
    if (socket.isPaused) return heard()
    silentLooks += 1
    if (silentLooks >= 3) socket.terminate()
  }, lookEveryMs)
  timer.unref()
  socket.once('close', () => clearInterval(timer))
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
