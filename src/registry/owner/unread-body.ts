import type { IncomingMessage, ServerResponse } from 'node:http'

/** How long the client of an answered request has to notice the answer. */
const lingerMs = 5_000
/**
 * The most bytes of a request that are thrown away. A client that sends everything before it reads gets its
 * answer if it sends no more than this.
 */
export const maxDiscardedBytes = 64 * 1_048_576

/**
 * Keeps the connection open for an answer that is given before its client has sent the whole request. It is
 * called before the head of the answer is written. If the connection were closed while the client sends, the
 * client would lose the answer: the kernel answers the bytes that still come with a reset, and a client such
 * as Go's then reports a broken pipe, although the answer has arrived. Node closes the connection at once if
 * the client asked for that (`Connection: close`, as docker and some versions of skopeo do). So here the
 * connection stays open until the client closes it or has sent everything. Bytes that come are thrown away.
 * Bytes beyond the bound are not read and wait at the client, which may read the answer meanwhile.
 */
export function discardRest(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  const isLast = !response.shouldKeepAlive
  response.shouldKeepAlive = true
  let bytes = 0
  request.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > maxDiscardedBytes) request.pause()
  })
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  request.once('close', () => {
    clearTimeout(timer)
    if (isLast) socket.end()
  })
}
