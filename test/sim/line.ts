import type { World } from './world.ts'

/** One end of a connection. */
export interface LineEnd<Out> {
  send(message: Out): void
  close(): void
  readonly closed: boolean
}

export interface LineEvents<In> {
  hear(message: In): void
  /** `byPeer`: the other side has closed the line. Otherwise the line was cut. */
  closed(byPeer: boolean): void
}

/** The longest time that one message takes. */
export const longestWayMs = 5
/** How much later than the other one way may go on after a stall. */
const longestUnevenMs = 200

/** One way of a connection. Messages arrive in order after a while, or not at all once the way is cut. */
class Way<T> {
  readonly #world: World
  readonly #hear: (message: T) => void
  #freeAtMs = 0
  #cut = false

  constructor(world: World, hear: (message: T) => void) {
    this.#world = world
    this.#hear = hear
  }

  put(message: T): void {
    if (this.#cut) return
    const { nowMs, dice } = this.#world
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs + dice.stretched(0.05, longestWayMs))
    this.#world.after(this.#freeAtMs - nowMs, () => {
      if (!this.#cut) this.#hear(message)
    })
  }

  stall(untilMs: number): void {
    this.#freeAtMs = Math.max(this.#freeAtMs, untilMs)
  }

  cut(): void {
    this.#cut = true
  }
}

/**
 * After this time even a side that was not told of a cut finds the connection closed. Its own time limit is
 * usually shorter.
 */
const unnoticedMs = 60_000

/** A connection between a gateway and a host. */
export class SimLine<Up, Down> {
  readonly #world: World
  readonly #up: Way<Up | undefined>
  readonly #down: Way<Down | undefined>
  readonly #upper: { over: boolean; readonly events: LineEvents<Down> }
  readonly #lower: { over: boolean; readonly events: LineEvents<Up> }
  #disturbedUntilMs: number
  readonly gatewayEnd: LineEnd<Up>
  readonly hostEnd: LineEnd<Down>

  constructor(world: World, events: { readonly gateway: LineEvents<Down>; readonly host: LineEvents<Up> }) {
    this.#world = world
    this.#disturbedUntilMs = world.nowMs
    const upper = { over: false, events: events.gateway }
    const lower = { over: false, events: events.host }
    this.#upper = upper
    this.#lower = lower
    this.#up = new Way<Up | undefined>(world, (message) => {
      arrive(lower, message)
    })
    this.#down = new Way<Down | undefined>(world, (message) => {
      arrive(upper, message)
    })
    this.gatewayEnd = endOf(upper, this.#up)
    this.hostEnd = endOf(lower, this.#down)
  }

  /** From this time on, a message arrives within `longestWayMs`. A line that a side has left carries none. */
  get disturbedUntilMs(): number {
    return this.#upper.over || this.#lower.over ? Infinity : this.#disturbedUntilMs
  }

  /** Holds all messages back for `ms` or a little longer. Then all of them arrive, in order. */
  stall(ms: number): void {
    const { dice, nowMs } = this.#world
    this.#disturbedUntilMs = Math.max(this.#disturbedUntilMs, nowMs + ms + longestUnevenMs)
    this.#up.stall(nowMs + ms + dice.between(0, longestUnevenMs))
    this.#down.stall(nowMs + ms + dice.between(0, longestUnevenMs))
  }

  /**
   * Cuts the line: messages that are under way are lost. Each side is told of the cut within 500 ms, or
   * finds it out by itself.
   */
  cut(): void {
    this.#disturbedUntilMs = Infinity
    this.#up.cut()
    this.#down.cut()
    for (const side of [this.#upper, this.#lower]) {
      const { dice } = this.#world
      this.#world.after(dice.chance(0.3) ? unnoticedMs : dice.stretched(0.1, 500), () => {
        end(side)
      })
    }
  }

  gatewayDied(): void {
    this.#upper.over = true
    this.#up.put(undefined)
  }
}

function arrive<T>(side: { over: boolean; readonly events: LineEvents<T> }, message: T | undefined): void {
  if (side.over) return
  if (message === undefined) end(side, true)
  else side.events.hear(message)
}

function end(
  side: { over: boolean; readonly events: { closed(byPeer: boolean): void } },
  byPeer = false,
): void {
  if (side.over) return
  side.over = true
  side.events.closed(byPeer)
}

function endOf<T>(
  side: { over: boolean; readonly events: { closed(byPeer: boolean): void } },
  way: Way<T | undefined>,
): LineEnd<T> {
  return {
    send(message) {
      if (!side.over) way.put(message)
    },
    close() {
      if (side.over) return
      way.put(undefined)
      end(side)
    },
    get closed() {
      return side.over
    },
  }
}
