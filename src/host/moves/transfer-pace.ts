/** 1 MB/s. */
export const slowestBytesPerMs = 1_000
/** The bytes of so long count together, so that a short pause of the wire or of a disk does no harm. */
const windowMs = 60_000

/**
 * Ends the transfer of a file that gets too slow. `progress` is how far it has come in the file. So a host
 * that sends or takes a byte now and then keeps no turn for long, however large the file is.
 */
export class TransferPace implements Disposable {
  readonly #timer: NodeJS.Timeout
  readonly #controller = new AbortController()

  constructor(progress: () => number, { paceMs = windowMs }: { readonly paceMs?: number | undefined } = {}) {
    let before = 0
    this.#timer = setInterval(() => {
      const at = progress()
      if (at - before < paceMs * slowestBytesPerMs)
        this.#controller.abort(new Error(`only ${at - before} bytes went over in ${paceMs / 1_000} s`))
      before = at
    }, paceMs)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
