import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { renderErrorPage } from '../error-page.ts'
import { joinFieldLines } from '../field-lines.ts'
import type { HttpLimits } from '../http-limits.ts'

/** Why a connection of HTTP/1.1 is ended although no request of it is under way. */
export interface Http1Refusal {
  readonly status: number
  readonly message: string
}

export const lateHead: Http1Refusal = {
  status: 408,
  message: 'The header of the request did not arrive in time.',
}

/** Answers with a page and ends the connection. */
export function refuseConnection(
  socket: Duplex,
  { status, message }: Http1Refusal,
  { lingerMs }: HttpLimits,
): void {
  socket.on('error', () => socket.destroy())
  const { fields, body } = renderErrorPage({ status, message, accept: '' })
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n`
  socket.end(`${head}${joinFieldLines(fields)}\r\n${body}`)
  const limit = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(limit))
}
