import { createHash } from 'node:crypto'
import { RegistryError, RegistryFailure } from './registry-error.ts'

/**
 * Passes a blob on. Throws at the end of the blob unless it has the announced length and the digest that was
 * asked for. Throws at the first byte too many. A reader must not trust the bytes before it has reached the
 * end.
 */
export async function* verified(
  chunks: AsyncIterable<Buffer>,
  expected: { readonly digest: string; readonly size: number },
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > expected.size) {
      throw corrupt(
        `${expected.digest} is longer than the ${expected.size} bytes that its manifest announces`,
      )
    }
    hash.update(chunk)
    yield chunk
  }
  if (size !== expected.size) {
    throw corrupt(
      `${expected.digest} has ${size} bytes instead of the ${expected.size} that its manifest announces`,
    )
  }
  if (`sha256:${hash.digest('hex')}` !== expected.digest) {
    throw corrupt(`the content of ${expected.digest} does not have that digest`)
  }
}

export function verifyDigest(bytes: Buffer, digest: string): void {
  if (digestOf(bytes) !== digest) throw corrupt(`the content of ${digest} does not have that digest`)
}

export function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

function corrupt(message: string): RegistryError {
  return new RegistryError(RegistryFailure.Corrupt, message)
}
