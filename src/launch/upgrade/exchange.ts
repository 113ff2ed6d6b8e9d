import { setTimeout as delay } from 'node:timers/promises'
import { PlatformEnd } from '../end-signals.ts'
import type { RunningPart } from '../platform.ts'

/** How long a part has to run after it was ready, until the next one is exchanged. */
const provenAfterMs = 2_000
const stopLimitMs = 20_000
/** How often the start of a part that ran before is tried when an upgrade goes back. */
const triesBack = 3

/** The next version did not take over. The platform is what it was, or the message says what is not. */
export class UpgradeFailure extends Error {
  override readonly name = 'UpgradeFailure'
}

export interface ExchangeOptions {
  /** Is told each step. */
  readonly say: (text: string) => void
  /** Default: 2 s. Tests have less time. */
  readonly provenAfterMs?: number
}

interface Exchange {
  readonly from: RunningPart | undefined
  readonly to: RunningPart | undefined
}

/**
 * Replaces the parts of one version by those of the next, one after the other in the order of their start.
 * VMs run on. If a part of the next version does not start, or ends soon after, all that was exchanged is
 * exchanged back, and `UpgradeFailure` is thrown.
 */
export async function exchangeParts(
  before: readonly RunningPart[],
  next: readonly RunningPart[],
  options: ExchangeOptions,
): Promise<void> {
  const done: Exchange[] = []
  try {
    for (const exchange of inOrder(before, next)) {
      await carryOut(exchange, options)
      done.push(exchange)
      options.say(told(exchange))
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    options.say(`${why}; going back`)
    const lost = await goBack(done, options)
    const now =
      lost.length === 0 ? 'the version before runs as it did' : `${lost.join(', ')} did not start again`
    throw new UpgradeFailure(`the upgrade went back: ${why}. ${now}`, { cause })
  }
}

/** First what the next version has, in its order; what it has not any more ends at last. */
function inOrder(before: readonly RunningPart[], next: readonly RunningPart[]): readonly Exchange[] {
  const find = (all: readonly RunningPart[], name: string) => all.find((one) => one.name === name)
  return [
    ...next.map((to) => ({ from: find(before, to.name), to })),
    ...before.filter(({ name }) => find(next, name) === undefined).map((from) => ({ from, to: undefined })),
  ]
}

async function carryOut({ from, to }: Exchange, options: ExchangeOptions): Promise<void> {
  if (from === undefined) {
    if (to !== undefined) await startProven(to, options)
  } else if (to === undefined) await stop(from)
  else if (from.handsOver && to.handsOver) await from.handOverTo(async () => await startProven(to, options))
  else {
    await stop(from)
    try {
      await startProven(to, options)
    } catch (error) {
      await startAgain(from)
      throw error
    }
  }
}

/** Returns the names of the parts that did not start again. */
async function goBack(done: readonly Exchange[], options: ExchangeOptions): Promise<readonly string[]> {
  const lost: string[] = []
  for (const { from, to } of done.toReversed()) {
    try {
      if (from !== undefined && to?.handsOver === true && from.handsOver)
        await to.handOverTo(async () => await from.start())
      else {
        if (to !== undefined) await stop(to)
        if (from !== undefined) await startAgain(from)
      }
    } catch (error) {
      lost.push(from?.name ?? to?.name ?? '')
      options.say(error instanceof Error ? error.message : String(error))
    }
  }
  return lost
}

/** If it throws, the part does not run. */
async function startProven(part: RunningPart, options: ExchangeOptions): Promise<void> {
  try {
    await part.start()
    const ends = part.ends
    await delay(options.provenAfterMs ?? provenAfterMs)
    if (part.ends !== ends) throw new UpgradeFailure(`${part.name} ended again after it was ready`)
  } catch (error) {
    await stop(part)
    throw error
  }
}

async function startAgain(part: RunningPart): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await part.start()
    } catch (error) {
      await stop(part)
      if (attempt === triesBack) throw error
    }
  }
}

async function stop(part: RunningPart): Promise<void> {
  await part.stop({ deadlineMs: Date.now() + stopLimitMs, end: PlatformEnd.KeepVms })
}

function told({ from, to }: Exchange): string {
  if (from === undefined) return `${to?.name ?? ''} is new, and runs`
  if (to === undefined) return `${from.name} is not needed any more, and has ended`
  return `${to.name} is of the next version`
}
