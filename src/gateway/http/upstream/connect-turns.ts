import { Roster } from '../../roster.ts'
import type { Entry } from '../../roster.ts'

/** A connection that is to be made. It has an entry while it waits. */
interface Turn {
  readonly start: () => void
  entry?: Entry<Turn> | undefined
}

/** Lets only so many connections be made at once. The others wait in the order in which they came. */
export class ConnectTurns {
  readonly #most: () => number
  readonly #waiting = new Roster<Turn>()
  #underWay = 0

  /** A change of `most` counts from the next end of a turn. */
  constructor(most: () => number) {
    this.#most = most
  }

  /**
   * Calls `start` once there is room, which may be at once. Returns a function that ends the turn, or the
   * waiting for it. It is idempotent, and `start` itself may not call it.
   */
  take(start: () => void): () => void {
    const turn: Turn = { start }
    turn.entry = this.#waiting.add(turn)
    this.#begin()
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      if (turn.entry === undefined) this.#underWay -= 1
      else this.#waiting.remove(turn.entry)
      this.#begin()
    }
  }

  #begin(): void {
    while (this.#underWay < this.#most()) {
      const turn = this.#waiting.first
      if (turn?.entry === undefined) return
      this.#waiting.remove(turn.entry)
      turn.entry = undefined
      this.#underWay += 1
      turn.start()
    }
  }
}
