import type { HostLeaseState } from '../../src/domain/standby/host-lease-state.ts'
import { noHostLease } from '../../src/domain/standby/host-lease-state.ts'
import { LeasePhase } from '../../src/domain/standby/host-lease-phase.ts'
import type { ExitReport } from '../../src/domain/instance/exit-report.ts'
import type { StandByRefusal } from '../../src/domain/instance/host-work.ts'
import { EventKind } from '../../src/domain/instance/lifecycle-state.ts'
import type { LifecycleEvent } from '../../src/domain/instance/lifecycle-state.ts'
import type { ScaleToZero } from '../../src/domain/standby/scale-to-zero.ts'
import type { StartReport } from '../../src/domain/instance/start-report.ts'
import { leaseKeptMs } from '../../src/domain/standby/lease-protocol.ts'

/** What is on the host's disk. */
export interface Books {
  boot: number
  started?: StartReport
  exit?: ExitReport
  stoppedThrough: number
  sleep?: {
    readonly boot: number
    readonly permit: number
    readonly stateful: boolean
    readonly atMs?: number
    readonly exit?: ExitReport
    readonly snapshotUuid?: string
  }
}

/** A start under way. */
export interface Job {
  readonly boot: number
  readonly byPermit: boolean
  aborted: boolean
  readonly result: Promise<readonly LifecycleEvent[]>
}

export function permitOf({ sleep, boot, started, exit }: Books): number | undefined {
  if (sleep?.atMs === undefined) return undefined
  const unused = boot === sleep.permit && started === undefined && exit === undefined
  return sleep.boot === boot || unused ? sleep.permit : undefined
}

export function runs({ started, exit, sleep, boot }: Books): boolean {
  return started !== undefined && exit === undefined && !(sleep?.atMs !== undefined && sleep.boot === boot)
}

/** The order is carried out: with a memory in a snapshot, after an end, or without a boot at all. */
export function asleepBooks(
  books: Books,
  { boot, permit, stateful }: { readonly boot: number; readonly permit: number; readonly stateful: boolean },
  atMs: number,
): Books {
  const sleep = { boot, permit, stateful, atMs }
  if (boot === 0) return { ...books, sleep }
  if (stateful) return { ...books, sleep: { ...sleep, snapshotUuid: `of-${boot}` } }
  const exit = exitOf(boot, atMs, { exitCode: 0 })
  return { ...books, exit, sleep: { ...sleep, exit } }
}

/** What an order that was carried out is answered with. */
export function sleptEvents(
  { sleep }: Books,
  { boot, permit }: { readonly boot: number; readonly permit: number },
): readonly LifecycleEvent[] | undefined {
  if (sleep?.atMs === undefined || sleep.boot !== boot || sleep.permit !== permit) return undefined
  const { atMs, exit, snapshotUuid } = sleep
  return [
    {
      kind: EventKind.Slept,
      boot,
      permit,
      atMs,
      ...(exit && { exit }),
      ...(snapshotUuid && { snapshotUuid }),
    },
  ]
}

/** As `recovered-lease.ts` does it. */
export function recoveredHostLease(found: {
  readonly books: Books
  readonly vm: { readonly memory: number } | undefined
  readonly settings: ScaleToZero
  readonly nowMs: number
}): HostLeaseState {
  const { books, vm, settings, nowMs } = found
  const { sleep, boot } = books
  const base: HostLeaseState = { ...noHostLease, settings, boot }
  const slept = sleep?.atMs === undefined ? {} : { slept: { boot: sleep.boot, permit: sleep.permit } }
  const permit = permitOf(books)
  if (permit !== undefined && sleep !== undefined) {
    const memoryBoot = sleep.snapshotUuid === undefined ? 0 : sleep.boot
    return { ...base, ...slept, phase: LeasePhase.Asleep, boot: sleep.boot, permit, memoryBoot }
  }
  if (!runs(books) || vm === undefined) return { ...base, ...slept }
  const unsureUntilMs = nowMs + leaseKeptMs
  const { memory } = vm
  return {
    ...base,
    ...slept,
    phase: LeasePhase.Running,
    memoryBoot: memory,
    touched: true,
    quietFromMs: unsureUntilMs,
    unsureUntilMs,
  }
}

export class Refused extends Error {
  readonly reason: StandByRefusal
  constructor(reason: StandByRefusal) {
    super(reason)
    this.reason = reason
  }
}

export function reportOf(boot: number, startedAtMs: number): StartReport {
  const times = { bootTimeUs: 1, vmmStartTimeUs: 1, vmmLoadTimeUs: 1, vmmReadyTimeUs: 1 }
  return { boot, kind: 'boot', startedAtMs, ...times }
}

export function exitOf(boot: number, atMs: number, how: Partial<ExitReport>): ExitReport {
  return { boot, cause: 'guest', applicationStarted: true, atMs, ...how }
}

/** What a start of a boot that is decided about is answered with. */
export function startEvents(books: Books, boot: number): readonly LifecycleEvent[] | undefined {
  const { started, exit, sleep } = books
  const known = started ?? (exit === undefined ? undefined : reportOf(boot, exit.atMs))
  if (boot !== books.boot || known === undefined || permitOf(books) === boot) return undefined
  const up: LifecycleEvent = { kind: EventKind.Started, report: known }
  const slept = sleep?.boot === boot && sleep.atMs !== undefined
  return exit === undefined || slept ? [up] : [up, { kind: EventKind.Exited, exit }]
}

export function stopEvents({ exit }: Books, boot: number): readonly LifecycleEvent[] {
  const absent: LifecycleEvent = { kind: EventKind.Absent, boot }
  if (exit === undefined || exit.boot > boot || exit.boot < boot - 1) return [absent]
  const ended: LifecycleEvent = { kind: EventKind.Exited, exit }
  return exit.boot === boot ? [ended] : [ended, absent]
}

/** The permit is revoked, and no boot up to that one is started any more. */
export function stoppedBooks(books: Books, boot: number): Books {
  const permit = permitOf(books)
  const kept = permit !== undefined && permit <= boot ? { ...books, sleep: undefined } : books
  const late = books.boot < boot || permit !== undefined
  return late ? { ...kept, stoppedThrough: Math.max(boot, books.stoppedThrough) } : kept
}

/** A stop of such a boot ends it on the books alone, so that it does not come up later. */
export function neverCameUp(books: Books, stopped: number): boolean {
  const { boot, started, exit } = books
  const isOpen = started === undefined && exit === undefined && permitOf(books) === undefined
  return boot > 0 && boot <= stopped && isOpen
}
