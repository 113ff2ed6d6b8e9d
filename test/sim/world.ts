import { createHash } from 'node:crypto'
import { Dice } from './dice.ts'

interface Due {
  readonly atMs: number
  readonly order: number
  readonly happen: () => void
  cancelled: boolean
}

/** The number of lines that are kept for the report of a failure. */
const keptLines = 400
/** The most events of a run. A run with more is an endless loop in virtual time, which is a defect too. */
const mostEvents = 100_000

/**
 * Virtual time. Everything that happens in a run is an event of this world, so the seed decides the order in
 * which everything happens.
 */
export class World {
  readonly dice: Dice
  nowMs = 1_000_000
  /** The first broken rule. It ends the run. */
  violation: Error | undefined
  /** Called after each event, to check the rules. */
  afterEach: () => void = () => undefined
  events = 0
  #heap: Due[] = []
  #order = 0
  #lines: string[] = []
  readonly #hash = createHash('sha256')

  constructor(seed: number) {
    this.dice = new Dice(seed)
  }

  after(delayMs: number, happen: () => void): { cancel(): void } {
    const due: Due = {
      atMs: this.nowMs + Math.max(0, delayMs),
      order: this.#order++,
      happen,
      cancelled: false,
    }
    push(this.#heap, due)
    return {
      cancel: () => {
        due.cancelled = true
      },
    }
  }

  async sleep(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.after(delayMs, resolve)
    })
  }

  note(line: string): void {
    const text = `${(this.nowMs / 1_000).toFixed(4)} ${line}`
    this.#hash.update(text)
    this.#lines.push(text)
    if (this.#lines.length > 2 * keptLines) this.#lines = this.#lines.slice(-keptLines)
  }

  fail(rule: string): void {
    this.violation ??= new Error(rule)
    this.note(`BROKEN ${rule}`)
  }

  get lines(): readonly string[] {
    return this.#lines.slice(-keptLines)
  }

  /** Returns a hash that is the same for two runs that went the same way. */
  digest(): string {
    return this.#hash.copy().digest('hex')
  }

  /** Plays all events up to that time, or up to the first broken rule. */
  async runUntil(atMs: number): Promise<void> {
    await settled()
    for (let next = this.#heap[0]; next !== undefined; next = this.#heap[0]) {
      if (this.violation !== undefined || next.atMs > atMs) break
      pop(this.#heap)
      if (next.cancelled) continue
      this.nowMs = Math.max(this.nowMs, next.atMs)
      this.events += 1
      if (this.events > mostEvents) this.fail('the simulation does not come to an end')
      next.happen()
      await settled()
      this.afterEach()
    }
    if (this.violation === undefined) this.nowMs = Math.max(this.nowMs, atMs)
  }
}

const immediate = setImmediate
const fileWork = /^(FS|Close)/

/** Waits until all promises that can go on have done so, and until work on real files has ended. */
async function settled(): Promise<void> {
  do {
    await new Promise((resolve) => immediate(resolve))
  } while (process.getActiveResourcesInfo().some((name) => fileWork.test(name)))
}

function isBefore(one: Due, other: Due): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)
}

function push(heap: Due[], due: Due): void {
  let at = heap.push(due) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    const above = heap[parent]
    if (above === undefined || !isBefore(due, above)) break
    heap[at] = above
    at = parent
  }
  heap[at] = due
}

function pop(heap: Due[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    const right = heap[child + 1]
    let least = heap[child]
    if (least === undefined) break
    if (right !== undefined && isBefore(right, least)) {
      child += 1
      least = right
    }
    if (!isBefore(least, last)) break
    heap[at] = least
    at = child
  }
  heap[at] = last
}
