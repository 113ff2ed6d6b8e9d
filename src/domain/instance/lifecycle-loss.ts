import { ExitCause } from './exit-report.ts'
import type { ExitReport } from './exit-report.ts'
import * as move from './lifecycle-moves.ts'
import { lostMemory, orderOf } from './lifecycle-standby.ts'
import { Deletion, MoveStep, StartOrigin } from './lifecycle-state.ts'
import type { EventKind, EventOf, Lifecycle } from './lifecycle-state.ts'

/**
 * The host of the instance is lost: it was not heard for its whole term, so all its VMs have ended by
 * themselves (`src/domain/host/term.ts`). An instance with a volume there stays, and what it needs is asked
 * of the host until that is back. Any other instance gets another host first: `placing` is set, nothing is
 * asked of a host, and every call that is under way is called off. `placed` then names the host.
 *
 * - What ran begins again as after a halt of its host, or ends as it was asked to.
 * - What slept sleeps on at the new host, without the memory that was kept.
 * - A boot that the lost host may have started by its permit has used its number up.
 * - The host need not remove anything: if it comes back, it clears what is not its own any more.
 * - A loss is told more than once. Only the first time has an effect, and the first time after its volume was
 *   detached.
 */
type Loss = EventOf<typeof EventKind.HostLost>
type Rule = (life: Lifecycle, event: Loss, nowMs: number) => Lifecycle

/** The rule for a loss that was not told before. */
function once(rule: Rule): Rule {
  return (life, event, nowMs) => {
    const { nodeId, loss, stays } = event
    const { lost, move: moving } = life
    // The row may name another host by now. If it does not, the loss is told again.
    if (moving?.step === MoveStep.Row) return life
    const isSame = lost?.nodeId === nodeId && lost.loss >= loss
    // Its volume was detached meanwhile, so it need not wait for the host any more.
    const isFree = lost?.stays === true && !stays
    if (isSame && !isFree) return life
    const told = { ...life, lost: { nodeId, loss, ...(stays && { stays }) } }
    return rule(stays ? told : { ...told, placing: true }, event, nowMs)
  }
}

export const lostStopped = once((life) => ({ ...life, givenUp: undefined }))

export const lostInStandby = once((life, { stays }) => {
  // The host still has the memory, if it comes back.
  if (stays || life.sleep === undefined) return life
  const { snapshotUuid, ...slept } = life.sleep
  const used = { ...life, boot: usedBoot(life) }
  const sleep = { ...slept, boot: used.boot }
  const lost = snapshotUuid === undefined ? {} : { ...move.noFailure, failure: lostMemory }
  return { ...used, ...orderOf(used, 0), retryAtMs: undefined, sleep, ...lost }
})

export const lostWhileStarting = once((life, { stays }) =>
  stays
    ? life
    : {
        ...life,
        ...noPermit,
        boot: usedBoot(life) + 1,
        startTries: 1,
        // Traffic can not wake it if this start fails, so the platform tries for as long as it takes.
        startOrigin: life.startOrigin === StartOrigin.Traffic ? StartOrigin.Platform : life.startOrigin,
        retryAtMs: undefined,
        endedTry: undefined,
        wakingSinceMs: undefined,
      },
)

export const lostWhileRunning = once((life, event, nowMs) => {
  const again = move.endedByItself(life, exitOf(life, event), nowMs)
  return { ...again, ...noPermit, boot: Math.max(again.boot, usedBoot(life) + 1) }
})

/** A stop is under way, or the drain before it. */
export const lostWhileEnding = once((life, event, nowMs) => {
  const boot = usedBoot(life)
  const ended = move.endedAsAsked({ ...life, ...noPermit }, exitOf(life, event), nowMs)
  return { ...ended, boot: ended.boot === life.boot ? boot : Math.max(ended.boot, boot + 1) }
})

export const lostWhileDeleted = once((life) => ({ ...life, deletion: Deletion.Done }))

/** The instance has another host, or has to stay where it is because it has a volume there by now. */
export function placed(life: Lifecycle, { nodeId }: EventOf<typeof EventKind.Placed>): Lifecycle {
  return life.placing === true ? { ...life, placing: undefined, nodeId } : life
}

const noPermit = { permit: undefined, sleep: undefined } as const

/** The highest boot number that the host may have used. */
function usedBoot({ boot, permit = 0 }: Lifecycle): number {
  return Math.max(boot, permit)
}

function exitOf({ boot }: Lifecycle, { atMs }: Loss): ExitReport {
  return { boot, cause: ExitCause.HostHalted, applicationStarted: true, atMs }
}
