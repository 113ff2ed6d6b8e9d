/** The size of the buffers, which is also the most that arrives at once from an instance. */
export const copyBytes = 128 << 10
/** The most buffers that are kept for the next copy. */
const maxKept = 16
/**
 * Smaller chunks are copied into memory of their own. So a client that takes nothing holds at most twice
 * the memory that is counted for it.
 */
const leastBytes = copyBytes / 2

const kept: Buffer[] = []

/**
 * Copies a chunk, calls `use` with the copy and a function that must be called once the copy is no longer
 * needed, and returns what `use` returns. Large copies get the memory of former ones: new memory would
 * cost more than the copying.
 */
export function withCopy<Result>(chunk: Buffer, use: (copy: Buffer, done: () => void) => Result): Result {
  if (chunk.length < leastBytes || chunk.length > copyBytes) return use(Buffer.from(chunk), () => undefined)
  const buffer = kept.pop() ?? Buffer.allocUnsafeSlow(copyBytes)
  chunk.copy(buffer)
  return use(buffer.subarray(0, chunk.length), () => {
    if (kept.length < maxKept) kept.push(buffer)
  })
}
