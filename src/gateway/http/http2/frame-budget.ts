import type { HttpLimits } from '../http-limits.ts'
import { Allowance } from './allowance.ts'
import { tooMuch } from './frames.ts'

/** The most frames within `resetWindowMs` that bring neither a request nor a byte of a body. */
const maxIdleFrames = 2_000
/**
 * Each request allows some more, and so does what is sent of a body, for which clients open windows. A client
 * that opens its windows byte by byte gains nothing by it.
 */
const framesPerRequest = 10
const framesPerPiece = 2
const bytesPerPieceFrame = 32
const bytesPerFrame = 4_096

/**
 * Bounds the frames of a connection that cost the gateway more than their sender. Throws `ConnectionError`
 * if there are too many.
 */
export class FrameBudget {
  readonly #idle: Allowance
  readonly #resets: Allowance

  constructor({ maxResets, resetWindowMs: windowMs }: HttpLimits) {
    this.#idle = new Allowance({ most: maxIdleFrames, windowMs })
    this.#resets = new Allowance({ most: maxResets, windowMs })
  }

  /** Counts a frame that brings nothing. */
  idle(): void {
    if (!this.#idle.spend()) throw tooMuch('too many frames bring nothing')
  }

  /** Counts a stream that the client resets, or has the gateway reset: it may have cost an instance much. */
  reset(): void {
    if (!this.#resets.spend()) throw tooMuch('too many streams are reset')
  }

  request(): void {
    this.#idle.earn(framesPerRequest)
  }

  sent(bytes: number): void {
    this.#idle.earn(Math.min(framesPerPiece, bytes / bytesPerPieceFrame) + bytes / bytesPerFrame)
  }
}
