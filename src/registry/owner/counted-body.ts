import { Transform } from 'node:stream'

interface Admission {
  /**
   * Counts the bytes and returns true if they surely fit. Returns false if `admit` has to look more closely.
   */
  readonly fits: (bytes: number) => boolean
  readonly admit: (bytes: number) => Promise<void>
}

/**
 * Passes a body on, each piece once it was admitted. If a piece is refused, the body ends with the error of
 * `admit`.
 */
export function countedBody(admission: Admission): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      if (admission.fits(chunk.length)) done(null, chunk)
      else void admitLate(admission, chunk, done)
    },
  })
}

async function admitLate(
  { admit }: Admission,
  chunk: Buffer,
  done: (error: Error | null, chunk?: Buffer) => void,
): Promise<void> {
  try {
    await admit(chunk.length)
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)))
    return
  }
  done(null, chunk)
}
