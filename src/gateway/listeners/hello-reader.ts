import type { Socket } from 'node:net'
import { readClientHello } from './client-hello.ts'
import type { ClientHello } from './client-hello.ts'

/**
 * The largest number of pieces that are kept apart. Even a piece of one byte takes some hundred bytes of
 * memory.
 */
const maxPieces = 64

/**
 * Reads the first message of a connection and puts it back, so that TLS reads all of it again. `done` is
 * called at most once, and not at all if the connection ends before. It gets undefined if no hello can be
 * read. The caller has to bound how long that may take; how much is kept is bounded here.
 */
export function peekHello(socket: Socket, done: (hello: ClientHello | undefined) => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  let needsBytes = 0
  const take = (chunk: Buffer): void => {
    chunks.push(chunk)
    bytes += chunk.length
    // A client that sends byte by byte must not make the gateway look at every byte.
    if (bytes < needsBytes) {
      if (chunks.length === maxPieces) chunks.splice(0, maxPieces, Buffer.concat(chunks))
      return
    }
    const received = chunks.length === 1 ? chunk : Buffer.concat(chunks)
    const reading = readClientHello(received)
    if (reading.kind === 'incomplete') {
      needsBytes = reading.needsBytes
      chunks.splice(0, chunks.length, received)
      return
    }
    socket.off('data', take)
    socket.pause()
    socket.unshift(received)
    done(reading.kind === 'hello' ? reading.hello : undefined)
  }
  socket.on('data', take)
}
