import { OutgoingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'

/** Smaller chunks are left to the garbage collector: freeing one costs more than it brings. */
const leastBytes = 8 << 10

/**
 * Writes a chunk and returns what `write` returns. When the kernel has taken all of it, the chunk's memory is
 * freed at once, so nobody else may use the chunk from now on. Node reads each chunk of a socket into new
 * memory, and the garbage collector would look through everything for each 64 MiB of it: many times a second
 * while clients send large bodies, for several milliseconds each.
 *
 * Memory that may have other users is left to the garbage collector: slices of a larger piece, what was not
 * taken, and chunks for a stream inside this process, which may pass them on.
 */
export function writeAndFree(sink: Writable, chunk: Buffer): boolean {
  const memory = chunk.buffer
  const isWhole = chunk.byteLength === memory.byteLength && chunk.byteLength >= leastBytes
  const isTakenByKernel = sink instanceof Socket || sink instanceof OutgoingMessage
  if (!isWhole || !isTakenByKernel || !(memory instanceof ArrayBuffer)) return sink.write(chunk)
  return sink.write(chunk, (error) => {
    if (error === undefined || error === null) memory.transfer(0)
  })
}
