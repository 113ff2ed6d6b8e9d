import { AskerKind, thePlatform } from '../event/asker.ts'
import type { Asker } from '../event/asker.ts'
import type { EventFacts, News } from '../event/news.ts'
import { UserEventKind } from '../event/user-event-kind.ts'
import { howItEnded } from './ending.ts'
import { isRenewal } from './lifecycle-change.ts'
import { EventKind, isWithHosts, StartOrigin } from './lifecycle-state.ts'
import type { EventOf, Lifecycle, LifecycleEvent } from './lifecycle-state.ts'
import { InstanceState } from './state.ts'
import { StopBit } from './stop-reason.ts'
import { applicationEntered, itWasShutDown, memoryIsKept, quietFor } from './words.ts'
import { somethingAsked, startsAgainAt, timeOf, userSaidSo } from './words.ts'

/** One decision about a life: what it was, what came, and what it is now. */
interface Turn {
  readonly before: Lifecycle
  readonly event: LifecycleEvent
  readonly after: Lifecycle
}

/**
 * What users are told about one decision of the lifecycle: every change of the state, and every failure that
 * left the state as it was. A pure function. It tells nothing if readers see no change, so whatever it tells
 * is written together with the row.
 */
export function newsOf(before: Lifecycle, event: LifecycleEvent, after: Lifecycle): readonly News[] {
  if (before.revision === after.revision) return []
  const turn = { before, event, after }
  return [...moveNews(turn), ...lifeNews(turn)]
}

/** Whether a move is over, with its hosts. The steps before are told as far as they change the state. */
function moveNews({ before, event, after }: Turn): readonly News[] {
  const { move, state: from } = before
  const of = { from, to: after.state, asker: move?.asker ?? thePlatform }
  if (event.kind === EventKind.Moved && move !== undefined && after.nodeId !== before.nodeId) {
    const without =
      move.withoutMemory === undefined ? '' : `; its memory did not go with it, because ${move.withoutMemory}`
    const longer =
      move.notCopied === undefined
        ? ''
        : `; its volume could not be copied while it ran, because ${move.notCopied}`
    const why = `it moved from host ${move.from.nodeId} to host ${move.to.nodeId}, and keeps its address${without}${longer}`
    return [{ kind: UserEventKind.InstanceMoved, ...of, why }]
  }
  const { moveFailure: failed } = after
  if (failed === undefined || failed === before.moveFailure) return []
  const why = `it did not move from host ${failed.from.nodeId} to host ${failed.to.nodeId}: ${failed.why}`
  return [{ kind: UserEventKind.InstanceMoveFailed, ...of, why }]
}

function lifeNews(turn: Turn): readonly News[] {
  const { before, event, after } = turn
  if (before.state !== after.state) return [stateNews(turn)]
  const startsAgain = after.boot > before.boot && after.state === InstanceState.Starting
  if (startsAgain && endsBoots.has(event.kind)) return [stateNews(turn)]
  // That the memory of one that sleeps was left behind is told with the move.
  const isTold = event.kind === EventKind.Moved
  const failed = !isTold && after.failure !== undefined && after.failure !== before.failure
  return failed ? [failureNews(turn)] : []
}

/** The events that end one boot, and may begin the next one at once. */
const endsBoots: ReadonlySet<EventKind> = new Set([EventKind.Exited, EventKind.HostLost])

function stateNews(turn: Turn): News {
  const { before, after } = turn
  const { why, facts } = told[after.state](turn)
  return {
    kind: UserEventKind.InstanceState,
    from: before.state,
    to: after.state,
    why,
    asker: askerOf(after),
    ...(facts === undefined ? {} : { facts }),
  }
}

function failureNews({ after }: Turn): News {
  const { state, failure = '', retryAtMs } = after
  const what = whatFailed(state)
  const next = retryAtMs === undefined ? '' : `; it is tried again at ${timeOf(retryAtMs)}`
  return {
    kind: UserEventKind.InstanceFailure,
    from: state,
    to: state,
    why: `${what}${failure}${next}`,
    asker: askerOf(after),
    ...(after.failureKind === undefined ? {} : { facts: { failure: after.failureKind } }),
  }
}

/** A failure of an instance that runs says itself what failed. */
function whatFailed(state: InstanceState): string {
  if (state === InstanceState.Running) return ''
  return state === InstanceState.Starting ? 'it could not be started: ' : 'it could not be woken: '
}

/** Who asked for the state that the life has now. */
function askerOf({ state, startOrigin, asker, outcome, sleep }: Lifecycle): Asker {
  if (state === InstanceState.Standby && sleep?.suspended !== true) return { by: AskerKind.Policy }
  const isUp = state === InstanceState.Starting || state === InstanceState.Running
  if (isUp && startOrigin !== StartOrigin.User) return { by: originAsker[startOrigin] }
  const endedByItself = state === InstanceState.Stopped && ((outcome?.stopReason ?? 0) & StopBit.User) === 0
  return endedByItself ? { by: AskerKind.Host } : (asker ?? { by: AskerKind.Token })
}

const originAsker = {
  [StartOrigin.Policy]: AskerKind.Policy,
  [StartOrigin.Platform]: AskerKind.Platform,
  [StartOrigin.Traffic]: AskerKind.Traffic,
} satisfies Record<Exclude<StartOrigin, 'user'>, AskerKind>

interface Told {
  readonly why: string
  readonly facts?: EventFacts
}

/** Why an instance is in its new state. */
const told: Record<InstanceState, (turn: Turn) => Told> = {
  [InstanceState.Starting]: ({ before, event, after }) => ({
    why: `${endBefore(event)}${isRenewal(before) ? itsNewConfiguration : whyStarting(after)}`,
    facts: { boot: after.boot },
  }),
  [InstanceState.Running]: ({ before, after }) => ({
    why: before.state === InstanceState.Draining ? 'a start took its stop back' : applicationEntered,
    facts: startFacts(after),
  }),
  [InstanceState.Draining]: ({ after }) => ({
    why: `${whyEnding(after)}, and what is connected may end until ${timeOf(after.drainUntilMs)}`,
  }),
  [InstanceState.Stopping]: ({ before, after }) => ({
    why:
      before.state === InstanceState.Draining
        ? 'it has drained'
        : after.asked?.forced === true
          ? 'it is to stop by force'
          : whyEnding(after),
  }),
  [InstanceState.Stopped]: whyStopped,
  [InstanceState.Standby]: whyAsleep,
}

const itsNewConfiguration = 'it starts with its changed configuration'

function whyEnding(life: Lifecycle): string {
  return isRenewal(life) ? 'it restarts, because its configuration was changed' : 'it is to stop'
}

/** If a boot ended and the next one begins at once, how the one before ended. */
function endBefore(event: LifecycleEvent): string {
  if (event.kind === EventKind.HostLost) return `${hostIsLost(event)}; `
  return event.kind === EventKind.Exited ? `${howItEnded(event.exit)}; ` : ''
}

function hostIsLost({ nodeId, stays }: EventOf<typeof EventKind.HostLost>): string {
  const next = stays
    ? `it waits until ${nodeId} is back, because its volume is there`
    : 'it gets another host'
  return `its host ${nodeId} is lost, and ${next}`
}

function whyStarting({ startOrigin, restartAttempt, move }: Lifecycle): string {
  const isHeld = move !== undefined && isWithHosts(move.step)
  if (isHeld && startOrigin === StartOrigin.Platform)
    return `it moves to host ${move.to.nodeId}, and starts again there`
  switch (startOrigin) {
    case StartOrigin.User:
      return 'a start was asked for'
    case StartOrigin.Traffic:
      return somethingAsked
    case StartOrigin.Platform:
      return 'the platform starts it again, because it should run'
    case StartOrigin.Policy:
      return `its restart policy starts it again (restart ${restartAttempt} in a row)`
    default:
      return startOrigin satisfies never
  }
}

function startFacts({ boot, report }: Lifecycle): EventFacts {
  if (report?.boot !== boot) return { boot }
  return { boot, start_kind: report.kind, boot_time_us: report.bootTimeUs }
}

function whyStopped({ event, after }: Turn): Told {
  const { boot, outcome, restartAtMs, failure } = after
  const end =
    event.kind === EventKind.Exited
      ? howItEnded(event.exit)
      : event.kind === EventKind.HostLost
        ? `its host ${event.nodeId} is lost`
        : failure === undefined
          ? itWasShutDown
          : `it could not be started: ${failure}`
  const restart = restartAtMs === undefined ? '' : `; ${startsAgainAt(restartAtMs)}`
  return {
    why: `${end}${restart}`,
    facts: {
      boot,
      ...(outcome === undefined ? {} : { stop_reason: outcome.stopReason }),
      ...(outcome?.exitCode === undefined ? {} : { exit_code: outcome.exitCode }),
      ...(outcome?.stopCode === undefined ? {} : { stop_code: outcome.stopCode }),
    },
  }
}

function whyAsleep({ event, after }: Turn): Told {
  const { failure, sleep, scaleToZero } = after
  if (event.kind !== EventKind.Slept && failure !== undefined)
    return { why: `it could not be woken: ${failure}` }
  const kept = sleep?.snapshotUuid === undefined ? itWasShutDown : memoryIsKept(sleep.snapshotUuid)
  const why = sleep?.suspended === true ? userSaidSo : quietFor(scaleToZero?.cooldownMs ?? 0)
  return { why: `${why}; ${kept}` }
}
