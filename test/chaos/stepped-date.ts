import { readFileSync } from 'node:fs'
import process from 'node:process'

/** Loaded before everything else by the processes of a host whose clock can step (`stepped-clock.ts`). */
const file = process.env['ROOST_TEST_CLOCK']
const lookEveryMs = 50
const TrueDate = Date
let byMs = 0
let lookedMs = -Infinity

function now(): number {
  if (file !== undefined && performance.now() - lookedMs > lookEveryMs) {
    lookedMs = performance.now()
    try {
      // A file that is being written is empty for a moment.
      byMs = Number(readFileSync(file, 'utf8') || byMs)
    } catch {
      // The file goes with the host.
    }
  }
  return TrueDate.now() + byMs
}

class SteppedDate extends TrueDate {
  constructor(...given: readonly unknown[]) {
    if (given.length === 0) super(now())
    else super(...(given as [number]))
  }

  static override now(): number {
    return now()
  }
}

globalThis.Date = SteppedDate as DateConstructor
