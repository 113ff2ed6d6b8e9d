import process from 'node:process'
import fc from 'fast-check'
import { ciSeed } from './ci-seed.ts'

/**
 * Bytes that decide the choices of a generator, one after the other. Every choice is the plainest one where
 * the byte is 0, and the bytes after the end are 0. fast-check makes a tape within four microseconds, which
 * is a small part of what it takes for a grammar of its own. By shortening the tape it simplifies what is
 * generated.
 */
export class Tape {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Whether all bytes were used. */
  get isOver(): boolean {
    return this.#at >= this.#bytes.length
  }

  next(): number {
    const byte = this.#bytes[this.#at] ?? 0
    this.#at += 1
    return byte
  }

  /** A number below `count`, which may be up to 65536. */
  below(count: number): number {
    return count <= 256 ? this.next() % count : (this.next() * 256 + this.next()) % count
  }

  /** True once in `count` times. */
  oneIn(count: number): boolean {
    return this.next() % count === count - 1
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)] ?? choices[0]
  }
}

export const tapes = fc.uint8Array({ maxLength: 192, size: 'max' })

const runsSetting = process.env['ROOST_FUZZ_RUNS']
const seedSetting = process.env['ROOST_FUZZ_SEED']

/**
 * How many cases are generated, and from which seed. `ROOST_FUZZ_RUNS` and `ROOST_FUZZ_SEED` say otherwise,
 * for longer runs by hand and to repeat one. The message of a failure has the seed.
 */
export function fuzzRuns(usualRuns: number): fc.Parameters<unknown> {
  const seed = seedSetting === undefined ? ciSeed : Number(seedSetting)
  return {
    numRuns: runsSetting === undefined ? usualRuns : Number(runsSetting),
    unbiased: true,
    ...(seed === undefined ? {} : { seed }),
  }
}

/** The time limit of a test that generates cases: none for a run by hand. */
export const fuzzTimeoutMs = runsSetting === undefined ? 60_000 : 0

/** Runs a check, and adds the bytes to the message of its failure: the tape alone says nothing to readers. */
export function explained<T>(bytes: Buffer, check: () => T): T {
  try {
    return check()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new Error(`${JSON.stringify(bytes.toString('latin1'))}: ${message}`, { cause: error })
  }
}
