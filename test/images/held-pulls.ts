import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Images } from '../../src/host/images/images.ts'
import { until } from '../support/until.ts'
import { wanted } from './wanted-image.ts'

/** Pulls that go on until the test ends them, or until they are aborted. */
export class HeldPulls {
  count = 0
  readonly #ways = new Set<(error?: Error) => void>()
  #isOpen = false

  readonly pull = async (signal: AbortSignal): Promise<void> => {
    this.count += 1
    if (this.#isOpen) return
    const end = Promise.withResolvers<void>()
    this.#ways.add((error) => (error === undefined ? end.resolve() : end.reject(error)))
    const over = new AbortController()
    const aborted = once(signal, 'abort', { signal: over.signal }).then(
      () => signal.throwIfAborted(),
      () => undefined,
    )
    try {
      await Promise.race([end.promise, aborted])
    } finally {
      over.abort()
    }
  }

  async begun(count = 1): Promise<void> {
    await until(`${count} pulls have begun`, () => this.count >= count, { limitMs: 20_000 })
  }

  /** Asks for an image, and gives up once the pull has begun. */
  async askInVain(images: Images, reference: string): Promise<void> {
    const impatient = new AbortController()
    const asked = images.prepare(wanted(reference), impatient.signal)
    await this.begun()
    impatient.abort(new Error('no more'))
    await assert.rejects(asked, /no more/)
  }

  /** Lets the pulls under way succeed. Later pulls succeed at once. */
  letGo(): void {
    this.#end()
  }

  /** Lets the pulls under way fail. Later pulls succeed at once. */
  fail(error: Error): void {
    this.#end(error)
  }

  #end(error?: Error): void {
    this.#isOpen = true
    for (const end of this.#ways) end(error)
  }
}
