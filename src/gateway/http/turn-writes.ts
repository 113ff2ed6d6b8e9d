import type { Socket } from 'node:net'

/** When so many sockets have bytes that wait, they are written before the turn ends. */
const maxWaiting = 64

const waiting: Socket[] = []
let turnHasBegun = false

/**
 * Writes text, of which each character is a byte, at the latest at the end of this turn of the event loop.
 * The first text of a turn is written at once, so a gateway with little to do waits for nothing. What
 * follows in the same turn is written together: each write would wake a reader that sleeps again before the
 * next, which costs more than the write itself.
 *
 * A socket that waits is corked, so the order of its bytes stays, and its end sends them.
 */
export function writeInTurn(socket: Socket, text: string): void {
  if (!turnHasBegun) {
    turnHasBegun = true
    setImmediate(endTurn)
  } else if (socket.writableCorked === 0) {
    if (waiting.length === maxWaiting) writeWaiting()
    socket.cork()
    waiting.push(socket)
  }
  socket.write(text, 'latin1')
}

function endTurn(): void {
  turnHasBegun = false
  writeWaiting()
}

function writeWaiting(): void {
  for (const socket of waiting.splice(0)) socket.uncork()
}
