/**
 * Lets groups that run side by side write one after another. The text of the group whose turn it is goes
 * through at once; the text of the others waits for their turn.
 */
export class OutputTurns {
  readonly #write: (text: string) => void
  readonly #waiting: Turn[] = []

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  /** Begins a turn. Turns come in the order of these calls. */
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

  /** Removes ended groups at the front, and writes the text of the next group so far. */
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
