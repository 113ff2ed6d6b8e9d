import type { WebSocket } from 'ws'

/** The time between two pings. Proxies close what is silent for a minute. */
const pingEveryMs = 15_000

/**
 * Sends pings, and breaks the connection off if nothing came back from one ping to the next. A peer that is
 * not read from, because what it sent before waits, can not be heard, so it counts as alive.
 */
export function keepAlive(socket: WebSocket): void {
  let heard = true
  socket.on('pong', () => (heard = true))
  socket.on('message', () => (heard = true))
  // A peer that reads nothing, because its receiver is slow, answers no ping, but sends its own.
  socket.on('ping', () => (heard = true))
  const timer = setInterval(() => {
    if (!heard && !socket.isPaused) {
      socket.terminate()
      return
    }
    heard = false
    socket.ping()
  }, pingEveryMs)
  timer.unref()
  socket.once('close', () => clearInterval(timer))
}
