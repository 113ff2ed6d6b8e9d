/** The most streams that are remembered after the gateway has reset them. */
const maxRemembered = 256

export interface ListedStream {
  readonly id: number
  /** The place in the list, which the list sets. */
  place: number
}

/**
 * The streams of one connection. A list and no map, because a map from which members go with every request
 * makes work for the garbage collector (see `Roster`); there are at most as many as settings allow.
 */
export class StreamList<Stream extends ListedStream> {
  readonly #streams: Stream[] = []
  /** Streams that the gateway has reset: the client may have sent more over them, before it knew. */
  readonly #reset = new Uint32Array(maxRemembered)
  #nextReset = 0

  get size(): number {
    return this.#streams.length
  }

  find(id: number): Stream | undefined {
    // The newest first: most frames are for them.
    for (let place = this.#streams.length - 1; place >= 0; place--) {
      if (this.#streams[place]?.id === id) return this.#streams[place]
    }
    return undefined
  }

  add(stream: Stream): void {
    stream.place = this.#streams.length
    this.#streams.push(stream)
  }

  remove(stream: Stream): void {
    const last = this.#streams.pop()
    if (last === undefined || last === stream) return
    this.#streams[stream.place] = last
    last.place = stream.place
  }

  /** The streams of this moment. */
  all(): Stream[] {
    return [...this.#streams]
  }

  remember(id: number): void {
    this.#reset[this.#nextReset] = id
    this.#nextReset = (this.#nextReset + 1) % maxRemembered
  }

  isRemembered(id: number): boolean {
    return this.#reset.includes(id)
  }
}
