import { setTimeout as delay } from 'node:timers/promises'
import { PlatformEnd } from '../end-signals.ts'
import { CannotLeave } from '../parts/cannot-leave.ts'
import { PartStartError } from '../parts/part-run.ts'
import type { RunningPart } from '../platform.ts'

/** How long a part has to run after it was ready, until the next one is exchanged. */
const provenAfterMs = 2_000
const stopLimitMs = 20_000
/** How often the start of a part that ran before is tried when an upgrade goes back. */
const triesBack = 3

/** The next version did not take over. The platform is what it was, or the message says what is not. */
export class UpgradeFailure extends Error {
  override readonly name = 'UpgradeFailure'
  /** The reason alone, without what a part said last. Administrators read it as the outcome. */
  readonly shortly: string

  constructor(
    message: string,
    { cause, shortly = message }: { readonly cause?: unknown; readonly shortly?: string } = {},
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.shortly = shortly
  }
}

/** The exchange whose turn it is. */
export interface ExchangeStep {
  readonly part: string
  /** How many parts are of the next version. */
  readonly exchanged: number
  readonly parts: number
  /** Present if the upgrade goes back: the reason in one sentence. */
  readonly why?: string
}

export interface ExchangeOptions {
  /** Is told each step. */
  readonly say: (text: string) => void
  /** Is told before each exchange, on the way there and back. It does not throw. */
  readonly onStep?: (step: ExchangeStep) => Promise<void>
  /** Aborts when the platform ends. From then on nothing is exchanged: all parts of both versions end. */
  readonly closing: AbortSignal
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
  const lost: string[] = []
  const all = inOrder(before, next)
  const step = async (exchange: Exchange, of: { readonly exchanged: number; readonly why?: string }) =>
    await options.onStep?.({ part: nameOf(exchange), parts: all.length, ...of })
  try {
    for (const exchange of all) {
      options.closing.throwIfAborted()
      await step(exchange, { exchanged: done.length })
      await carryOut(exchange, lost, options)
      done.push(exchange)
      options.say(told(exchange))
    }
  } catch (cause) {
    if (options.closing.aborted) throw new UpgradeFailure('the platform ended during the upgrade', { cause })
    const why = cause instanceof Error ? cause.message : String(cause)
    const shortly = reasonOf(cause, `${nameOf(all[done.length]!)} could not be exchanged`)
    options.say(`${why}; going back`)
    for (const [index, exchange] of [...done.entries()].toReversed()) {
      await step(exchange, { exchanged: index + 1, why: shortly })
      await carryBack(exchange, lost, options)
    }
    const now = lost.length === 0 ? 'the version before runs as it did' : lost.join('; ')
    throw new UpgradeFailure(`the upgrade went back: ${why}. ${now}`, {
      cause,
      shortly: [shortly, ...lost].join('; '),
    })
  }
}

/**
 * Why an upgrade failed, in one short sentence without what a part said. Other errors than those of the
 * upgrade itself may repeat settings, so they are only in the log.
 */
export function reasonOf(error: unknown, what: string): string {
  if (error instanceof UpgradeFailure || error instanceof PartStartError) return error.shortly
  return `${what}; the log of the platform says why`
}

function nameOf({ from, to }: Exchange): string {
  return to?.name ?? from?.name ?? ''
}

/** First what the next version has, in its order; what it has not any more ends at last. */
function inOrder(before: readonly RunningPart[], next: readonly RunningPart[]): readonly Exchange[] {
  const find = (all: readonly RunningPart[], name: string) => all.find((one) => one.name === name)
  return [
    ...next.map((to) => ({ from: find(before, to.name), to })),
    ...before.filter(({ name }) => find(next, name) === undefined).map((from) => ({ from, to: undefined })),
  ]
}

async function carryOut({ from, to }: Exchange, lost: string[], options: ExchangeOptions): Promise<void> {
  if (to === undefined) return await stop(from, options)
  if (await handsOver(from, async () => await startProven(to, options), to)) return
  await stop(from, options)
  try {
    await startProven(to, options)
  } catch (error) {
    await bringBack(from, lost, options)
    throw error
  }
}

async function carryBack({ from, to }: Exchange, lost: string[], options: ExchangeOptions): Promise<void> {
  try {
    if (from !== undefined && (await handsOver(to, async () => await startAgain(from, options), from))) return
  } catch {
    lost.push(`${from?.name ?? ''} did not start again, so that of the next version goes on`)
    return
  }
  await stop(to, options)
  await bringBack(from, lost, options)
}

/**
 * Whether `one` gave its work to what `startOther` starts. Nobody has it then if `startOther` throws; but a
 * part that can not leave, because it has just ended, gives nothing, and is replaced as any other part.
 */
async function handsOver(
  one: RunningPart | undefined,
  startOther: () => Promise<void>,
  other: RunningPart,
): Promise<boolean> {
  if (one?.handsOver !== true || !other.handsOver) return false
  try {
    await one.handOverTo(startOther)
    return true
  } catch (error) {
    // The part may be of another version, with a class of its own for this.
    if (error instanceof Error && error.name === CannotLeave.name) return false
    throw error
  }
}

/** If it throws, the part does not run. */
async function startProven(part: RunningPart, options: ExchangeOptions): Promise<void> {
  try {
    await part.start()
    const ends = part.ends
    await delay(options.provenAfterMs ?? provenAfterMs, undefined, { signal: options.closing })
    if (part.ends !== ends) throw new UpgradeFailure(`${part.name} ended again after it was ready`)
  } catch (error) {
    await stop(part, options)
    throw error
  }
}

/** A part that does not start in several tries is started on and on. */
async function bringBack(
  part: RunningPart | undefined,
  lost: string[],
  options: ExchangeOptions,
): Promise<void> {
  if (part === undefined) return
  try {
    await startAgain(part, options)
  } catch (error) {
    options.closing.throwIfAborted()
    options.say(error instanceof Error ? error.message : String(error))
    lost.push(`${part.name} did not start again, and is tried on and on`)
    part.insist()
  }
}

/** If it throws, the part does not run. */
async function startAgain(part: RunningPart, options: ExchangeOptions): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    options.closing.throwIfAborted()
    try {
      return await part.start()
    } catch (error) {
      await stop(part, options)
      if (attempt === triesBack) throw error
    }
  }
}

/** At the end of the platform each part is ended by its supervisor, which knows what becomes of the VMs. */
async function stop(
  part: RunningPart | undefined,
  { closing }: Pick<ExchangeOptions, 'closing'>,
): Promise<void> {
  if (closing.aborted) return
  await part?.stop({ deadlineMs: Date.now() + stopLimitMs, end: PlatformEnd.KeepVms })
}

function told({ from, to }: Exchange): string {
  if (from === undefined) return `${to?.name ?? ''} is new, and runs`
  if (to === undefined) return `${from.name} is not needed any more, and has ended`
  return `${to.name} is of the next version`
}
