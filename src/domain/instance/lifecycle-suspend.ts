import { StandByRefusal } from './host-work.ts'
import { InstanceState } from './state.ts'
import { maxFailureLength, noFailure } from './lifecycle-moves.ts'
import type { EventKind, EventOf, Lifecycle } from './lifecycle-state.ts'

/**
 * Standby at a user's word. The wish is kept in `suspend` until the instance sleeps, is stopped or ends, or
 * until its host says that it can not sleep. While it runs, the wish becomes an order to stand by that names
 * no idle period: `standByIfDue` in `lifecycle-standby.ts`. What follows is as with any other standby.
 *
 * - An order for an idle period that is already out comes first. If it is carried out, the instance sleeps as
 *   the user wanted. If it is refused, the order of the user follows.
 * - A start by hand takes the wish back. If its order is out already, the instance starts again when it
 *   sleeps.
 * - If the host can not carry the order out, the wish ends, and the instance runs on. Its failure says why.
 */

/** The longest time that requests in flight have to end. All others wait for the wake that long. */
export const maxSuspendDrainMs = 10_000

export function suspend(
  life: Lifecycle,
  { drainTimeoutMs }: EventOf<typeof EventKind.Suspend>,
  nowMs: number,
): Lifecycle {
  if (life.suspend !== undefined) return life.startAgain === true ? { ...life, startAgain: undefined } : life
  const drainMs = Math.min(maxSuspendDrainMs, Math.max(0, drainTimeoutMs))
  // The failure of an earlier attempt is over. That of a start that is tried again still says why it waits.
  const isOver = life.state === InstanceState.Running ? noFailure : {}
  return { ...life, ...isOver, suspend: { drainMs, atMs: Math.floor(nowMs) } }
}

/** Takes the wish back, because a start by hand came while the instance runs. */
export function unsuspend(life: Lifecycle): Lifecycle {
  if (life.suspend === undefined) return life
  return life.order?.drainMs === undefined ? { ...life, suspend: undefined } : { ...life, startAgain: true }
}

/** The host did not carry out the order of a user. */
export function notSuspended(life: Lifecycle, reason: StandByRefusal): Lifecycle {
  const over = { ...life, order: undefined, permit: undefined, suspend: undefined, startAgain: undefined }
  const why = whyNot[reason]
  if (why === undefined || life.startAgain === true) return over
  return { ...over, failure: `it was not suspended: ${why}`, failureKind: undefined }
}

/** The host did not carry out the order to stand by with which a move begins. The instance runs on. */
export function notMoved(life: Lifecycle, reason: StandByRefusal, nowMs: number): Lifecycle {
  // A start came after a wish for standby, and takes that back.
  const suspend = life.startAgain === true ? undefined : life.suspend
  const over = { ...life, order: undefined, permit: undefined, startAgain: undefined, suspend }
  return moveOver(over, whyNot[reason] ?? 'it did not run any more', nowMs)
}

/** The move ended, and the instance stays on its host. */
export function moveOver(life: Lifecycle, why: string, nowMs: number): Lifecycle {
  if (life.move === undefined) return life
  const { from, to } = life.move
  const atMs = Math.floor(nowMs)
  return { ...life, move: undefined, moveFailure: { from, to, atMs, why: why.slice(0, maxFailureLength) } }
}

/** Undefined: what happened to the instance is told as an event of its own. */
const whyNot = {
  [StandByRefusal.Busy]: 'what was in flight did not end in time, and a gateway can not let it wait',
  [StandByRefusal.Disabled]:
    'its application asks for no standby: its scale_to_zero_disable count is above 0',
  [StandByRefusal.Unsure]: 'its host does not know yet what its gateways hold',
  [StandByRefusal.NotRunning]: undefined,
  [StandByRefusal.SnapshotFailed]: 'its host could not keep its memory',
  [StandByRefusal.NoRoom]: 'the disk of its host has no room for its memory',
  [StandByRefusal.Programs]: 'a program of its user runs in it (roost exec)',
  [StandByRefusal.CanNotMove]: 'its host takes part in no mesh, or can not let its volume go',
} as const satisfies Record<StandByRefusal, string | undefined>
