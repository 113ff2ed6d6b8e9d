import { ExitCause } from '../../domain/instance/exit-report.ts'
import type { ExitReport } from '../../domain/instance/exit-report.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import type { VmRecord } from './vm-record.ts'

/**
 * What the keeper observed of one VM, read from its `events` lines (`guest/keeper/events.c` has the
 * vocabulary), and the verdict drawn from it. Pure: the same lines give the same reports, whoever reads them
 * and however often.
 */
export interface VmEvent {
  readonly atUs: number
  readonly what: string
  readonly words: readonly string[]
}

/** Lines without their newline are not there yet. */
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

/** Present once the application is entered, or the user's own kernel runs, or the VM ended before. */
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

/** A restored guest has its application with it, and a kernel of the user's own is all that we know of. */
function enteredEvent(record: VmRecord, events: readonly VmEvent[]): VmEvent | undefined {
  const isNew = record.guest === 'container' && record.kind !== 'restore'
  return findEvent(events, isNew ? 'app' : 'running')
}

/** Whether the VM became a snapshot; there is no exit then. */
export function wasSuspended(events: readonly VmEvent[]): boolean {
  return findEvent(events, 'suspended') !== undefined
}

/** Present once the VM has ended and is no snapshot. */
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
 * A kill that was asked for explains the end before anything else does; then what the VMM said of the
 * shutdown; an end that nobody explains is a lost VMM.
 */
function causeWithoutReport(record: VmRecord, events: readonly VmEvent[], ended: VmEvent): ExitCause {
  const kill = findEvent(events, 'kill')?.words[0]
  if (kill === 'host-halted' || ended.words[0] === 'host-halted') return ExitCause.HostHalted
  const shutdown = findEvent(events, 'shutdown')?.words[0]
  if (shutdown === 'guest-panic') return ExitCause.KernelPanic
  if (shutdown === 'guest-shutdown') return ExitCause.GuestShutdown
  if (shutdown === 'guest-reset') return causeOfReset(record, events)
  // `unresponsive`: the keeper ended what did not end on the shutdown signal.
  if (kill !== undefined) return ExitCause.Forced
  return ExitCause.VmmLost
}

/**
 * Before its panic driver is loaded, a platform kernel that panics can only reset; later a reset was
 * somebody's wish.
 */
function causeOfReset(record: VmRecord, events: readonly VmEvent[]): ExitCause {
  const early = record.guest === 'container' && findEvent(events, 'ready') === undefined
  return early && record.kind === 'boot' ? ExitCause.KernelPanic : ExitCause.GuestShutdown
}

/** CPU time of the VMM over its life, known once it has ended. */
export function cpuTimeMsOf(events: readonly VmEvent[]): number | undefined {
  const ended = findEvent(events, 'ended')
  const value = ended?.words[ended.words.indexOf('cpu_us') + 1]
  return value === undefined ? undefined : Math.round(Number(value) / 1000)
}
