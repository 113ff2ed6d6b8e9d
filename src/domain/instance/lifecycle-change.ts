import { InstanceState } from './state.ts'
import * as move from './lifecycle-moves.ts'
import type { EventKind, EventOf, Lifecycle } from './lifecycle-state.ts'
import { standByIfDue } from './lifecycle-standby.ts'
import { StopOrigin } from './stop-reason.ts'
import { mayStandBy, noScaleToZero } from '../standby/scale-to-zero.ts'
import type { ScaleToZero } from '../standby/scale-to-zero.ts'

/**
 * Changes of the configuration, as the lifecycle sees them.
 *
 * - Restart policy, delete-on-stop and scale-to-zero are rules of the lifecycle. They change at once. The
 *   host hears of scale-to-zero by the work `change`.
 * - The rest is what a boot is launched with. A boot that runs keeps what it was launched with. Its start
 *   report says which version that was.
 * - A boot with a version below `renewBelow` is shut down and started again. This also holds for a boot that
 *   comes up later with an old version, because its host had read the configuration before the change.
 * - An instance that sleeps without memory has nothing to lose: the host forgets what it kept for the wake.
 *   A kept memory is only dropped if it is older than `renewBelow`.
 * - A stop wins over a renewal, because the next start has the new configuration anyway.
 */

/** Takes a change over. An older change than the last one, or a repeat, changes nothing. */
export function noteChange(
  life: Lifecycle,
  { change }: EventOf<typeof EventKind.Change>,
  nowMs: number,
): Lifecycle {
  const { version, restartPolicy, deleteOnStop, scaleToZero, renewBelow, drainMs } = change
  const { config } = life
  if (version <= (config?.version ?? 0)) return life
  const changed: Lifecycle = {
    ...life,
    restartPolicy,
    deleteOnStop,
    scaleToZero: mayStandBy(scaleToZero) ? scaleToZero : undefined,
    config: {
      version,
      renewBelow: Math.max(renewBelow, config?.renewBelow ?? 0),
      drainMs,
      hostVersion: config?.hostVersion ?? 0,
    },
  }
  return standByIfDue(changed, nowMs)
}

/** The host has taken a change over. */
export function changeTaken(
  life: Lifecycle,
  { version, renew, renewed }: EventOf<typeof EventKind.ChangeTaken>,
): Lifecycle {
  const { config, sleep } = life
  if (config === undefined) return life
  const taken = { ...life, config: { ...config, hostVersion: Math.max(config.hostVersion, version) } }
  // The host may have been told while the instance ran.
  if (!renew || life.state !== InstanceState.Standby || sleep === undefined) return taken
  // If it was not renewed, the host is waking it, and reports that. So the host is not asked again.
  const asked = { ...sleep, configVersion: version }
  return { ...taken, sleep: renewed ? { ...asked, snapshotUuid: undefined } : asked }
}

/** Begins to replace the boot that runs, if it was launched with a configuration that is too old. */
export function renewIfDue(life: Lifecycle, nowMs: number): Lifecycle {
  const { config, state, deletion, retired } = life
  if (config === undefined || deletion !== undefined) return life
  const known = withReport(life)
  if (state !== InstanceState.Running || retired === true || !isOutdated(known)) return known
  const asked = { origin: StopOrigin.User, forced: false }
  // An instance that is being sent to standby has no connections to wait for.
  const atOnce = config.drainMs <= 0 || life.order !== undefined
  const ending = atOnce
    ? move.shutDown(known, asked, nowMs)
    : move.drain(known, asked, nowMs + config.drainMs)
  return { ...ending, startAgain: true }
}

/** A boot that came up with a newer configuration has told its host of it. */
function withReport(life: Lifecycle): Lifecycle {
  const { config, report } = life
  const launched = report?.configVersion ?? 0
  if (config === undefined || report?.boot !== life.boot || launched <= config.hostVersion) return life
  return { ...life, config: { ...config, hostVersion: launched } }
}

/** Whether the boot that runs, or the memory that sleeps, is to be replaced. */
export function isOutdated({ config, report, boot }: Lifecycle): boolean {
  if (config === undefined || report?.boot !== boot) return false
  return (report.configVersion ?? 0) < config.renewBelow
}

/** Whether the stop under way is the first half of a restart for a changed configuration. */
export function isRenewal(life: Lifecycle): boolean {
  return life.startAgain === true && isOutdated(life)
}

/** What the host has to be told of the last change; undefined if it knows all of it. */
export function changeToTell(
  life: Lifecycle,
): { readonly version: number; readonly scaleToZero: ScaleToZero; readonly renew: boolean } | undefined {
  const { config, scaleToZero = noScaleToZero } = life
  if (config === undefined) return undefined
  const renew = wakesWithOld(life)
  if (!renew && config.hostVersion >= config.version) return undefined
  return { version: config.version, scaleToZero, renew }
}

/** Whether an instance sleeps and would be woken with a configuration that is too old. */
function wakesWithOld({ state, config, report, sleep }: Lifecycle): boolean {
  if (state !== InstanceState.Standby || config === undefined || sleep === undefined) return false
  const launched = report?.boot === sleep.boot ? report.configVersion : undefined
  const least = sleep.snapshotUuid === undefined ? config.version : config.renewBelow
  return (sleep.configVersion ?? launched ?? 0) < least
}
