import { AskerKind } from '../event/asker.ts'
import type { News } from '../event/news.ts'
import { UserEventKind } from '../event/user-event-kind.ts'
import { isJsonObject } from '../json-text.ts'
import { toPlainText, visibleText } from '../plain-text.ts'

/**
 * How the upgrade of the platform on a host's machine goes:
 *
 *   exchanging ──► done
 *       │ a part does not start
 *       ▼
 *   going-back ──► went-back
 *
 * Both states under way become `cut-off` if the platform ends meanwhile.
 */
export const UpgradeState = {
  /** The next version replaces one part after the other. */
  Exchanging: 'exchanging',
  /** A part of it did not start, and what was replaced is replaced again by the version before. */
  GoingBack: 'going-back',
  /** All parts are of the next version. */
  Done: 'done',
  WentBack: 'went-back',
  /** The platform ended in the middle. */
  CutOff: 'cut-off',
} as const
export type UpgradeState = (typeof UpgradeState)[keyof typeof UpgradeState]

export const upgradeStates: readonly UpgradeState[] = Object.values(UpgradeState)

/** The upgrade that is under way on a host's machine, or else the last one. Times are the host's own. */
export interface HostUpgrade {
  readonly state: UpgradeState
  /** The version before. Absent: it was one that does not say it. */
  readonly from?: string
  /** The version that takes over. */
  readonly to: string
  readonly beganAtMs: number
  readonly endedAtMs?: number
  readonly progress?: UpgradeProgress
  /** Why it goes back, or went back. */
  readonly why?: string
}

/** How far an upgrade is that is under way. */
export interface UpgradeProgress {
  /** The part whose turn it is. */
  readonly part: string
  /** How many parts are of the next version. */
  readonly exchanged: number
  readonly parts: number
}

export function isUnderWay({ state }: Pick<HostUpgrade, 'state'>): boolean {
  return state === UpgradeState.Exchanging || state === UpgradeState.GoingBack
}

const maxVersionLength = 128
const maxPartLength = 64
/** The parts say more than this when they do not start; all of it is in the log of the platform. */
export const maxUpgradeWhyLength = 300
const maxParts = 1_000
/** The end of the year 9999. The times of the API have four digits for the year. */
const lastTimeMs = 253_402_300_799_999

/**
 * Reads what a file or a heartbeat says, which may be of another version or of a host that is not honest.
 * Undefined if it is not understood: nothing but the telling depends on it.
 */
export function readHostUpgrade(told: unknown): HostUpgrade | undefined {
  if (!isJsonObject(told)) return undefined
  const { from, to, why, beganAtMs, endedAtMs, progress } = told
  const state = upgradeStates.find((one) => one === told['state'])
  if (state === undefined || typeof to !== 'string' || !isWithin(beganAtMs, lastTimeMs)) return undefined
  const known = readProgress(progress)
  return {
    state,
    ...(typeof from === 'string' && { from: shortened(from, maxVersionLength) }),
    to: shortened(to, maxVersionLength),
    beganAtMs,
    ...(isWithin(endedAtMs, lastTimeMs) && { endedAtMs }),
    ...(known && { progress: known }),
    ...(typeof why === 'string' && { why: shortened(why, maxUpgradeWhyLength) }),
  }
}

function readProgress(told: unknown): UpgradeProgress | undefined {
  if (!isJsonObject(told)) return undefined
  const { part, exchanged, parts } = told
  if (typeof part !== 'string' || !isWithin(exchanged, maxParts) || !isWithin(parts, maxParts))
    return undefined
  return { part: shortened(part, maxPartLength), exchanged, parts }
}

function isWithin(value: unknown, most: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most
}

function shortened(text: string, most: number): string {
  return toPlainText(visibleText(text).slice(0, most))
}

/** Says how an upgrade under way is, as a sentence that begins in the middle of another one. */
export function upgradeUnderWayText({ state, from, to, progress, why }: HostUpgrade): string {
  const isForward = state === UpgradeState.Exchanging
  const what = isForward
    ? `Roost ${to} takes over${from === undefined ? '' : ` from ${from}`}`
    : `the upgrade to Roost ${to} goes back${becauseOf(why)}`
  if (progress === undefined) return what
  const { part, exchanged, parts } = progress
  return `${what}: ${exchanged} of ${parts} parts are of ${to}${isForward ? '' : ' still'}, and ${part} is being exchanged`
}

/**
 * What went wrong with the last upgrade of a host that has this version now. Undefined if nothing did, or if
 * the host came to the next version in another way since.
 */
export function upgradeFailureText(
  { state, from, to, endedAtMs, why }: HostUpgrade,
  version: string,
): string | undefined {
  if (version === to && from !== to) return undefined
  const when = endedAtMs === undefined ? '' : ` at ${new Date(endedAtMs).toISOString()}`
  if (state === UpgradeState.WentBack) return `the upgrade to Roost ${to} went back${when}${becauseOf(why)}`
  return state === UpgradeState.CutOff
    ? `the platform ended${when} in the middle of the upgrade to Roost ${to}`
    : undefined
}

function becauseOf(why: string | undefined): string {
  return why === undefined ? '' : `, because ${why}`
}

/**
 * What administrators are told when a host tells another upgrade than before. Undefined if that is only
 * further than it was.
 */
export function upgradeNews(
  host: string,
  before: HostUpgrade | undefined,
  now: HostUpgrade,
): News | undefined {
  const isSame = before?.beganAtMs === now.beganAtMs && before.to === now.to
  if (isSame && before.state === now.state) return undefined
  const { state, from, to } = now
  return {
    kind: UserEventKind.HostUpgrade,
    ...(isSame && { from: before.state }),
    to: state,
    why: whyText(now),
    asker: { by: AskerKind.Host, name: host },
    facts: { version: to, ...(from !== undefined && { version_before: from }) },
  }
}

function whyText({ state, from, to, why }: HostUpgrade): string {
  const before = from === undefined ? 'the version before' : `Roost ${from}`
  const texts: Readonly<Record<UpgradeState, string>> = {
    [UpgradeState.Exchanging]: `Roost ${to} takes over from ${before}`,
    [UpgradeState.GoingBack]: why ?? `Roost ${to} could not take over from ${before}`,
    [UpgradeState.Done]: `all parts are of Roost ${to}`,
    [UpgradeState.WentBack]: why ?? `Roost ${to} could not take over from ${before}`,
    [UpgradeState.CutOff]: `the platform ended while Roost ${to} took over from ${before}`,
  }
  return texts[state]
}
