import type { ProcessRest } from './process-stat.ts'
import { VmmError } from './vmm.ts'

/*
 * A guest can stop for ever while its kernel boots. The one way that is known: an emulated guest measures the
 * timer of its processor against a clock. If the host does not run the emulator for a tenth of a second at
 * that moment, the kernel takes the timer for broken and goes on without one. It then sleeps at the first
 * thing that waits for time to pass. Another boot does not meet that again.
 */

const lookEveryMs = 250
/**
 * A guest that boots is never idle for this long. One that only gets no processor does not sleep, it waits
 * for one.
 */
const stillMs = 2_000
/**
 * From one look to the next. An idle guest whose timer runs uses this much at most; one that boots uses all
 * that it gets.
 */
const idleCpuMs = 20
const bootsTried = 3

class StillGuest extends VmmError {
  constructor() {
    const seconds = stillMs / 1000
    super(
      'BootFailed',
      `the guest stood still: for ${seconds} s its kernel's boot used no processor and waited for none`,
    )
  }
}

/**
 * Does `work` with a signal that is also aborted, with a `StillGuest`, once all looks of `stillMs` have told
 * of sleep.
 */
export async function unlessStill<Result>(
  look: () => ProcessRest | undefined,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const still = new AbortController()
  let last: ProcessRest | undefined
  let looksInRow = 0
  // Looks are counted, not time: a host that was frozen for a minute says nothing about its guests.
  const looking = setInterval(() => {
    const rest = look()
    looksInRow = isStill(rest, last) ? looksInRow + 1 : 0
    last = rest
    if (looksInRow * lookEveryMs >= stillMs) still.abort(new StillGuest())
  }, lookEveryMs)
  try {
    return await work(AbortSignal.any([signal, still.signal]))
  } finally {
    clearInterval(looking)
  }
}

function isStill(rest: ProcessRest | undefined, last: ProcessRest | undefined): boolean {
  if (rest === undefined || last === undefined) return false
  return rest.isAsleep && rest.cpuTimeMs - last.cpuTimeMs <= idleCpuMs
}

/** Boots again, a few times, where the guest stood still; every other failure is the caller's. */
export async function bootAgainIfStill<Result>(
  boot: () => Promise<Result>,
  onProblem: (message: string) => void = () => undefined,
): Promise<Result> {
  for (let tried = 1; ; tried++) {
    try {
      return await boot()
    } catch (error) {
      const still = findStillGuest(error)
      if (still === undefined || tried === bootsTried) throw error
      onProblem(`a boot is tried again: ${still.message}`)
    }
  }
}

function findStillGuest(error: unknown): StillGuest | undefined {
  if (!(error instanceof Error)) return undefined
  return error instanceof StillGuest ? error : findStillGuest(error.cause)
}
