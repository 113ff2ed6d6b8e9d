import { ExitCause } from '../../domain/instance/exit-report.ts'
import type { ExitReport } from '../../domain/instance/exit-report.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import type { Span } from '../../primitives/spans.ts'
import type { VmRecord } from './vm-record.ts'

/**
 * What the keeper observed of one VM. It is read from the keeper's `events` lines (`guest/keeper/events.c`
 * has the vocabulary), and the reports below are drawn from it. All functions are pure: the same lines give
 * the same reports, no matter who reads them and how often.
 */
export interface VmEvent {
  readonly atUs: number
  readonly what: string
  readonly words: readonly string[]
}

/** A line without its newline is not complete and is left out. */
export function parseVmEvents(text: string): readonly VmEvent[] {
  const lines = text.split('\n').slice(0, -1)
  return lines.map((line) => {
    const [at = '', what = '', ...words] = line.split(' ')
    return { atUs: Number(at), what, words }
  })
}

export function findEvent(events: readonly VmEvent[], what: string): VmEvent | undefined {
  return events.find((event) => event.what === what)
}

/**
 * The start report. It is there once the application is entered, or the user's own kernel runs, or the VM
 * has ended before.
 */
export function startReportOf(record: VmRecord, events: readonly VmEvent[]): StartReport | undefined {
  const entered = enteredEvent(record, events)
  const arrived = entered ?? findEvent(events, 'exit') ?? findEvent(events, 'ended')
  if (arrived === undefined) return undefined
  const sinceStartUs = (event: VmEvent | undefined) => Math.max(0, (event ?? arrived).atUs - record.askedAtUs)
  const listening = findEvent(events, 'listen')
  return {
    boot: record.boot,
    kind: record.kind,
    startedAtMs: Math.floor(record.askedAtUs / 1000),
    bootTimeUs: sinceStartUs(arrived),
    vmmStartTimeUs: sinceStartUs(findEvent(events, 'qemu')),
    vmmLoadTimeUs: sinceStartUs(findEvent(events, 'monitor')),
    vmmReadyTimeUs: sinceStartUs(findEvent(events, 'running')),
    ...(listening === undefined ? {} : { netTimeUs: sinceStartUs(listening) }),
  }
}

/**
 * The event by which the application has started. A restored guest has its application in memory already,
 * and of a kernel of the user's own we only know that it runs.
 */
function enteredEvent(record: VmRecord, events: readonly VmEvent[]): VmEvent | undefined {
  const isNew = record.guest === 'container' && record.kind !== 'restore'
  return findEvent(events, isNew ? 'app' : 'running')
}

/** Whether the VM became a snapshot. There is no exit then. */
export function wasSuspended(events: readonly VmEvent[]): boolean {
  return findEvent(events, 'suspended') !== undefined
}

/** The steps of a VM's start: QEMU's own, the loading of kernel or memory, and the guest's. */
export function startSpans(record: VmRecord, events: readonly VmEvent[]): readonly Span[] {
  const steps = [
    ['host: until QEMU runs', record.askedAtUs, 'qemu'],
    ['vm: QEMU', findEvent(events, 'qemu')?.atUs, 'monitor'],
    ['vm: load', findEvent(events, 'monitor')?.atUs, 'running'],
    ['vm: guest', findEvent(events, 'running')?.atUs, 'app'],
  ] as const
  return steps.flatMap(([name, startUs, end]) => {
    const ended = findEvent(events, end)
    if (startUs === undefined || ended === undefined) return []
    return [{ instance: record.instanceUuid, name, startUs, durationUs: ended.atUs - startUs }]
  })
}

/** The exit report. It is there once the VM has ended and did not become a snapshot. */
export function exitReportOf(record: VmRecord, events: readonly VmEvent[]): ExitReport | undefined {
  const ended = findEvent(events, 'ended')
  if (ended === undefined || wasSuspended(events)) return undefined
  const applicationStarted = enteredEvent(record, events) !== undefined
  const base = { boot: record.boot, applicationStarted, atMs: Math.floor(ended.atUs / 1000) }
  const exit = findEvent(events, 'exit')
  if (exit !== undefined) return { ...base, cause: ExitCause.Guest, ...applicationEnd(exit) }
  return { ...base, cause: causeWithoutReport(record, events, ended) }
}

/** `exit code|signal <n> oom <0|1> killed <0|1>` */
function applicationEnd(exit: VmEvent): Partial<ExitReport> {
  const [how, value, , outOfMemory, , killed] = exit.words
  return {
    ...(how === 'signal' ? { signal: Number(value) } : { exitCode: Number(value) }),
    ...(outOfMemory === '1' ? { outOfMemory: true } : {}),
    ...(killed === '1' ? { killedAtShutdown: true } : {}),
  }
}

/**
 * The cause where the guest reported none. The halt or the cut-off of the host comes first, then the
 * shutdown that the VMM reported, then a kill that was asked for. If nothing explains the end, the VMM is
 * lost.
 */
function causeWithoutReport(record: VmRecord, events: readonly VmEvent[], ended: VmEvent): ExitCause {
  const kill = findEvent(events, 'kill')?.words[0]
  // A VM that ended with the host's term has to be started again, too.
  if (kill === 'host-halted' || kill === 'host-cut-off') return ExitCause.HostHalted
  if (ended.words[0] === 'host-halted') return ExitCause.HostHalted
  const shutdown = findEvent(events, 'shutdown')?.words[0]
  if (shutdown === 'guest-panic') return ExitCause.KernelPanic
  if (shutdown === 'guest-shutdown') return ExitCause.GuestShutdown
  if (shutdown === 'guest-reset') return causeOfReset(record, events)
  // The kill may also be `unresponsive`: the keeper ended a VM that did not end on the shutdown signal.
  if (kill !== undefined) return ExitCause.Forced
  return ExitCause.VmmLost
}

/**
 * A platform kernel that panics before its panic driver is loaded can only reset. A later reset was asked
 * for by the guest.
 */
function causeOfReset(record: VmRecord, events: readonly VmEvent[]): ExitCause {
  const early = record.guest === 'container' && findEvent(events, 'ready') === undefined
  return early && record.kind === 'boot' ? ExitCause.KernelPanic : ExitCause.GuestShutdown
}

/** The CPU time of the VMM over its life. Known once it has ended. */
export function cpuTimeMsOf(events: readonly VmEvent[]): number | undefined {
  const ended = findEvent(events, 'ended')
  const value = ended?.words[ended.words.indexOf('cpu_us') + 1]
  return value === undefined ? undefined : Math.round(Number(value) / 1000)
}
