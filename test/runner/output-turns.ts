/**
 * Lets groups that run side by side write one after the other: the one whose turn it is writes through, the
 * others' text waits until theirs comes.
 */
export class OutputTurns {
  readonly #write: (text: string) => void
  readonly #waiting: Turn[] = []

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  /** Turns come in the order in which they were asked for. */
  begin(): { write(text: string): void; end(): void } {
    const turn: Turn = { text: '', ended: false }
    this.#waiting.push(turn)
    return {
      write: (text) => {
        if (this.#waiting[0] === turn) this.#write(text)
        else turn.text += text
      },
      end: () => {
        turn.ended = true
        this.#passOn()
      },
    }
  }

  /** Ended groups in front leave; the next one's text so far comes out. */
  #passOn(): void {
    while (this.#waiting[0]?.ended) {
      this.#waiting.shift()
      const next = this.#waiting[0]
      if (next) {
        this.#write(next.text)
        next.text = ''
      }
    }
  }
}

interface Turn {
  text: string
  ended: boolean
}
