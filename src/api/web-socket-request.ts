import type { IncomingMessage } from 'node:http'

/** Whether a request asks for a WebSocket. Its connection belongs to whoever answers, see `server.ts`. */
export function asksForWebSocket({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}
