import { Readable } from 'node:stream'
import type { Sweep, Watched } from '../sweep.ts'

/**
 * A request's body on its way to an instance. The relay is needed because a reader that fails destroys the
 * stream it reads, and the client's own stream must remain usable for the answer.
 */
export class BodyRelay extends Readable implements Watched {
  readonly limitMs: number
  movedAtMs = performance.now()
  watching: Watched['watching']
  readonly #source: Readable
  readonly #sweep: Sweep
  readonly #onStuck: () => void

  constructor(
    source: Readable,
    options: { readonly sweep: Sweep; readonly limitMs: number; readonly onStuck: () => void },
  ) {
    super({ highWaterMark: source.readableHighWaterMark })
    this.limitMs = options.limitMs
    this.#source = source
    this.#sweep = options.sweep
    this.#onStuck = options.onStuck
    source.on('data', this.#take)
    source.on('end', this.#finish)
    source.pause()
    // The error is reported elsewhere: the code that destroys the relay with an error tells the exchange,
    // too.
    this.on('error', () => undefined)
  }

  stuck(): void {
    this.#onStuck()
  }

  override _read(): void {
    this.movedAtMs = performance.now()
    this.#sweep.watch(this)
    this.#source.resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#detach()
    this.#source.pause()
    callback(error)
  }

  readonly #take = (chunk: Buffer): void => {
    this.movedAtMs = performance.now()
    if (this.push(chunk)) return
    // While the instance accepts no bytes, the client is not to blame for the pause, so the sweep does not
    // watch it.
    this.#sweep.unwatch(this)
    this.#source.pause()
  }

  readonly #finish = (): void => {
    this.#detach()
    this.push(null)
  }

  #detach(): void {
    this.#sweep.unwatch(this)
    this.#source.off('data', this.#take)
    this.#source.off('end', this.#finish)
  }
}
