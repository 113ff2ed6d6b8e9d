import type { ProcessRest } from './process-stat.ts'
import { VmmError } from './vmm.ts'

/*
 * A guest can stop for ever while its kernel boots. One cause is known: an emulated guest measures the timer
 * of its processor against a clock. If the host does not run the emulator for a tenth of a second at that
 * moment, the kernel takes the timer for broken and continues without it. It then sleeps at the first thing
 * that waits for time to pass. A boot may come to its end without such a wait. So our init looks at the timer
 * before it says `ready`, and stops the guest if the timer is missing or far too slow (guest/init/timer.c).
 * Another boot usually gets past that moment.
 */

const lookEveryMs = 250
/**
 * How long a guest sleeps before its boot counts as stopped. A guest that boots is never idle for this long.
 * A guest that gets no processor time does not sleep either: it waits for a processor.
 */
const stillMs = 2_000
/**
 * The most processor time that an idle guest with a running timer uses from one look to the next. A guest
 * that boots uses all that it gets.
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
 * Runs `work` with a signal that is also aborted, with a `StillGuest`, once every look of the last `stillMs`
 * has found the guest asleep.
 */
export async function unlessStill<Result>(
  look: () => ProcessRest | undefined,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const still = new AbortController()
  let last: ProcessRest | undefined
  let looksInRow = 0
  // Looks are counted, not time: after a host was frozen for a minute, that minute says nothing about its
  // guests.
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

/** Boots again where the guest stood still, up to `bootsTried` boots in all. Throws every other failure. */
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
