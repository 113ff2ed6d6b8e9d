import { strict as assert } from 'node:assert'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import type { ConfigurationChange } from '../../../src/domain/instance/configuration.ts'
import type { ExitReport } from '../../../src/domain/instance/exit-report.ts'
import { StandByRefusal } from '../../../src/domain/instance/host-work.ts'
import type { MovedVolume } from '../../../src/domain/instance/host-work.ts'
import { decide, newLifecycle } from '../../../src/domain/instance/lifecycle.ts'
import { EventKind } from '../../../src/domain/instance/lifecycle-state.ts'
import type { LifecycleRules } from '../../../src/domain/instance/lifecycle-rules.ts'
import type { EventOf, Lifecycle, LifecycleEvent } from '../../../src/domain/instance/lifecycle-state.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import { noScaleToZero } from '../../../src/domain/standby/scale-to-zero.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'

/** The events from which tests write timelines of one instance. Times are milliseconds since its creation. */
export const start: LifecycleEvent = { kind: EventKind.Start }
export const stop: LifecycleEvent = { kind: EventKind.Stop, force: false, drainTimeoutMs: 0 }
export const forcedStop: LifecycleEvent = { kind: EventKind.Stop, force: true, drainTimeoutMs: 0 }
export const suspend = (drainTimeoutMs = 0): LifecycleEvent => ({ kind: EventKind.Suspend, drainTimeoutMs })
export const remove: LifecycleEvent = { kind: EventKind.Delete }
export const removed: LifecycleEvent = { kind: EventKind.Removed }
export const connectionsClosed: LifecycleEvent = { kind: EventKind.ConnectionsClosed }
export const tick: LifecycleEvent = { kind: EventKind.Tick }

export function drainingStop(drainTimeoutMs: number): LifecycleEvent {
  return { kind: EventKind.Stop, force: false, drainTimeoutMs }
}

/** A stop that retires the instance: it is deleted when it has stopped. */
export function retiringStop(drainTimeoutMs: number): LifecycleEvent {
  return { kind: EventKind.Stop, force: false, drainTimeoutMs, thenDelete: true }
}

export function started(
  boot: number,
  startedAtMs: number,
  configVersion?: number,
): EventOf<typeof EventKind.Started> {
  const times = { bootTimeUs: 30_000, vmmStartTimeUs: 1, vmmLoadTimeUs: 2, vmmReadyTimeUs: 3 }
  const version = configVersion === undefined ? {} : { configVersion }
  return {
    kind: EventKind.Started,
    report: { boot, kind: StartKind.Boot, startedAtMs, ...times, ...version },
  }
}

/** The report of a start that also says when the first socket listened. */
export function listening(boot: number, startedAtMs: number): LifecycleEvent {
  const { report } = started(boot, startedAtMs)
  return { kind: EventKind.Started, report: { ...report, netTimeUs: 40_000 } }
}

export function startFailed(
  boot: number,
  failure: 'ImageUnusable' | 'HostFull' | 'UnknownInstance' | undefined,
): LifecycleEvent {
  return { kind: EventKind.StartFailed, boot, failure, message: `no: ${failure ?? 'something'}` }
}

export function exited(
  boot: number,
  atMs: number,
  end: Partial<ExitReport> = { exitCode: 0 },
): LifecycleEvent {
  return {
    kind: EventKind.Exited,
    exit: { boot, cause: ExitCause.Guest, applicationStarted: true, atMs, ...end },
  }
}

export const absent = (boot: number): LifecycleEvent => ({ kind: EventKind.Absent, boot })

export const idle = (boot: number, sinceMs: number, epoch = 1): LifecycleEvent => ({
  kind: EventKind.Idle,
  boot,
  epoch,
  sinceMs,
})
export const waking = (boot: number, atMs: number): LifecycleEvent => ({ kind: EventKind.Waking, boot, atMs })
export const wakeFailed = (boot: number): LifecycleEvent => ({
  kind: EventKind.WakeFailed,
  boot,
  failure: 'BootFailed',
  message: 'no wake',
})
export const disabled = (boot: number, now = true): LifecycleEvent => ({
  kind: EventKind.Disabled,
  boot,
  disabled: now,
})
/** A change of the configuration. `renewBelow` 0 asks for no restart. */
export function change(
  version: number,
  more: Partial<ConfigurationChange> = {},
): EventOf<typeof EventKind.Change> {
  const rules = { restartPolicy: RestartPolicy.Never, deleteOnStop: false, scaleToZero: noScaleToZero }
  return { kind: EventKind.Change, change: { version, renewBelow: 0, drainMs: 0, ...rules, ...more } }
}
/** The host's answer to a change. Without `renewed`, it was not asked to renew anything. */
export const changeTaken = (version: number, renewed?: boolean): LifecycleEvent => ({
  kind: EventKind.ChangeTaken,
  version,
  renew: renewed !== undefined,
  renewed: renewed ?? false,
})

export const lost = (boot: number): LifecycleEvent => ({ kind: EventKind.Lost, boot, atMs: 3 })
/** The host is lost. With `stays`, the instance has a volume there. */
export const hostLost = (stays = false, loss = 1, nodeId = 'h1'): LifecycleEvent => ({
  kind: EventKind.HostLost,
  nodeId,
  loss,
  atMs: 3,
  stays,
})
export const placed = (nodeId = 'h2'): LifecycleEvent => ({ kind: EventKind.Placed, nodeId })
export const movePlace = (nodeId: string) => ({ nodeId, address: `10.${nodeId.slice(1)}.0.1` })
/** A move from h1. The other events of it name it by the time when it was asked for. */
export const moveTo = (nodeId = 'h2', volume?: MovedVolume): LifecycleEvent => ({
  kind: EventKind.Move,
  from: movePlace('h1'),
  to: movePlace(nodeId),
  ...(volume !== undefined && { volume }),
})
export const movedVolume: MovedVolume = { uuid: 'v', sizeMb: 64 }
/** A move with a volume that may be copied while the instance runs. */
export const copyTo = (nodeId = 'h2'): LifecycleEvent => ({
  ...(moveTo(nodeId, movedVolume) as EventOf<typeof EventKind.Move>),
  copies: true,
})
/** The volume of boot `boot` is copied, or is not and `why`. */
export const copied = (atMs: number, boot = 1, why?: string): LifecycleEvent => ({
  kind: EventKind.Copied,
  atMs,
  boot,
  ...(why !== undefined && { why }),
})
export const held = (atMs: number): LifecycleEvent => ({ kind: EventKind.Held, atMs, port: 40_000 })
export const fetched = (atMs: number, withoutMemory?: string): LifecycleEvent => ({
  kind: EventKind.Fetched,
  atMs,
  ...(withoutMemory !== undefined && { withoutMemory }),
})
export const moved = (nodeId = 'h2'): LifecycleEvent => ({ kind: EventKind.Moved, nodeId })
export const taken = (atMs: number): LifecycleEvent => ({ kind: EventKind.Taken, atMs })
export const released = (atMs: number): LifecycleEvent => ({ kind: EventKind.Released, atMs })
export const moveFailed = (atMs: number): LifecycleEvent => ({
  kind: EventKind.MoveFailed,
  atMs,
  why: 'no way',
})
export const refused = (
  boot: number,
  epoch = 1,
  reason: StandByRefusal = StandByRefusal.Busy,
): LifecycleEvent => ({ kind: EventKind.StandByRefused, boot, epoch, reason })

/** The report that a boot sleeps: with the given snapshot, or else after a shutdown with exit code 0. */
export function slept(boot: number, atMs: number, snapshotUuid?: string): LifecycleEvent {
  const end =
    snapshotUuid === undefined
      ? { exit: { boot, cause: ExitCause.Guest, exitCode: 0, applicationStarted: true, atMs } }
      : { snapshotUuid }
  return { kind: EventKind.Slept, boot, permit: boot + 1, atMs, ...end }
}

export const onTraffic = { policy: 'on', cooldownMs: 1_000, stateful: false } as const

export function created(rules: Partial<LifecycleRules> = {}): Lifecycle {
  return newLifecycle({ autostart: false, deleteOnStop: false, restartPolicy: RestartPolicy.Never, ...rules })
}

/** The life after all these events, each at its time. None of them may be refused. */
export function after(life: Lifecycle, ...events: readonly (readonly [number, LifecycleEvent])[]): Lifecycle {
  return events.reduce((now, [atMs, event]) => {
    const decision = decide(now, event, atMs)
    assert.ok(decision.accepted, `${event.kind} was refused`)
    return decision.life
  }, life)
}

export const runningOnTraffic = () =>
  after(created({ scaleToZero: onTraffic }), [0, start], [1, started(1, 1)])
export const asleepWithMemory = () =>
  after(runningOnTraffic(), [2, idle(1, 1)], [1_001, tick], [1_002, slept(1, 1_002, 'memory')])
