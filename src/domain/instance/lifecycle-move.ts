import { changeToTell } from './lifecycle-change.ts'
import { maxFailureLength } from './lifecycle-moves.ts'
import { EventKind, isWithHosts, MoveStep, StartOrigin } from './lifecycle-state.ts'
import type { EventOf, Lifecycle, LifecycleEvent, Move } from './lifecycle-state.ts'
import { orderOf } from './lifecycle-standby.ts'
import { moveOver } from './lifecycle-suspend.ts'
import { InstanceState, isDown } from './state.ts'

/**
 * The move of an instance to another host, at an administrator's word. It moves while nothing of it runs:
 *
 *   copy
 *    ▲ │  copied, could not be copied, or its VM ended
 *    │ ▼
 *   wanted ──────► hold ──► fetch ──► row ──► take ──► over
 *     ▲   it sleeps, │        │        │
 *     │   is stopped ├────────┴────────┴──► release ──► over, and told as failed
 *     └── it was woken before it was held
 *
 * - `wanted` waits until the instance runs, sleeps or is stopped, and no other order to its host is out. One
 *   that runs is ordered to stand by, and to be held as soon as it sleeps. It then counts as starting: it
 *   starts at the host that it has when the move is over, with its memory, as the permit's boot.
 * - `copy` comes before that order if the instance runs and has a volume: the new host copies the volume and
 *   follows what is written. All is as in `wanted` meanwhile: nothing waits for the copy, and the move may be
 *   changed or taken back. A move has one copy, with or without success, also if its VM ends before: without
 *   one, the pause of the instance is longer. An instance that begins anew all the time moves all the same.
 * - What the old host offers for the copy ends with the VM, or when the instance is held. If the move ends
 *   before that, the old host is told, and no other move begins until it has answered.
 * - A start by hand during the move is such a start, too. Traffic waits by itself.
 * - While the instance is held, nothing is asked of its hosts but the move, and what is told of a later boot
 *   is out of date: a held instance is started by nobody.
 * - In `row`, one write decides which host has the instance. No host is asked for anything meanwhile, and the
 *   answer counts, whatever came before it.
 * - A stop, a deletion and the loss of the old host end the move before that. Their work at the old host ends
 *   its hold, too; so does a start. Only an instance that is down has to be released.
 * - A change of the configuration is told to the host that the instance has when the move is over.
 * - A volume is held, fetched and named in the row together with its instance. The move fails if the instance
 *   has another volume by then than when the move was asked for.
 */

export function wantMove(
  life: Lifecycle,
  { to, from, volume, copies, asker }: EventOf<typeof EventKind.Move>,
  nowMs: number,
): Lifecycle {
  // An instance whose host is lost gets another one anyway.
  if (life.placing === true || isMoving(life) || life.move?.to.nodeId === to.nodeId) return life
  // The wish to move is taken back.
  if (from.nodeId === to.nodeId) return { ...life, move: undefined, moveFailure: undefined }
  const atMs = Math.floor(nowMs)
  const more = { ...(volume && { volume, ...(copies && { copies }) }), ...(asker && { asker }) }
  const wanted: Move = { to, from, step: MoveStep.Wanted, atMs, sinceMs: atMs, ...more }
  return { ...life, move: wanted, moveFailure: undefined }
}

/** Whether a move has begun, so that it can not lead to another host any more. */
export function isMoving({ move, order }: Lifecycle): boolean {
  return move !== undefined && (isWithHosts(move.step) || order?.hold !== undefined)
}

/** Whether the event is about a boot that the old host can not have started: it holds the instance. */
export function isOutdated({ move }: Lifecycle, event: LifecycleEvent): boolean {
  const isHeld = move?.step === MoveStep.Fetch || move?.step === MoveStep.Row
  return isHeld && move.boot !== undefined && bootOf(event) > move.boot
}

function bootOf(event: LifecycleEvent): number {
  if (event.kind === EventKind.Started) return event.report.boot
  if (event.kind === EventKind.Exited) return event.exit.boot
  return 'boot' in event ? event.boot : 0
}

/** The copy of the volume follows what the instance writes, or could not be made. It is to be held now. */
export function copied(
  life: Lifecycle,
  { atMs, boot, why }: EventOf<typeof EventKind.Copied>,
  nowMs: number,
): Lifecycle {
  const at = atStep(life, MoveStep.Copy, atMs)
  if (at === undefined || life.offer?.boot !== boot) return life
  const notCopied = why?.slice(0, maxFailureLength)
  return withStep(life, { ...at, copies: undefined, notCopied }, MoveStep.Wanted, nowMs)
}

export function held(life: Lifecycle, { atMs, port }: EventOf<typeof EventKind.Held>, nowMs: number) {
  const at = atStep(life, MoveStep.Hold, atMs)
  return at === undefined ? life : withStep(life, { ...at, port }, MoveStep.Fetch, nowMs)
}

export function fetched(
  life: Lifecycle,
  { atMs, withoutMemory }: EventOf<typeof EventKind.Fetched>,
  nowMs: number,
): Lifecycle {
  const at = atStep(life, MoveStep.Fetch, atMs)
  return at === undefined ? life : withStep(life, { ...at, withoutMemory }, MoveStep.Row, nowMs)
}

/** The row names the new host. */
export function moved(
  life: Lifecycle,
  { nodeId }: EventOf<typeof EventKind.Moved>,
  nowMs: number,
): Lifecycle {
  const { move: present } = life
  if (present?.step !== MoveStep.Row || present.to.nodeId !== nodeId) return life
  const there = { ...withoutOrder(life), nodeId }
  // Nothing of an instance that never ran is on any host.
  if (present.boot === undefined) return { ...there, move: undefined }
  return withStep(withoutMemory(there, present), present, MoveStep.Take, nowMs)
}

/** The new host has the permit with what it fetched, so no order of before counts there. */
function withoutOrder(life: Lifecycle): Lifecycle {
  if (life.state !== InstanceState.Standby) return life
  return { ...life, order: undefined, retryAtMs: undefined }
}

function withoutMemory(life: Lifecycle, { withoutMemory: why }: Move): Lifecycle {
  const { sleep, state } = life
  if (why === undefined || sleep?.snapshotUuid === undefined) return life
  const cold = { ...life, sleep: { ...sleep, snapshotUuid: undefined } }
  if (state !== InstanceState.Standby) return cold
  const failure = `its memory could not go with it to its new host, because ${why}: the next wake starts the application anew`
  return { ...cold, failure: failure.slice(0, maxFailureLength), failureKind: undefined }
}

/** The new host has taken the instance. */
export function taken(life: Lifecycle, { atMs }: EventOf<typeof EventKind.Taken>): Lifecycle {
  return moveEnded(life, atMs)
}

/** The old host has released the instance, or offers its volume no more. */
export function released(life: Lifecycle, { atMs }: EventOf<typeof EventKind.Released>): Lifecycle {
  // An answer comes only for an offer whose move is over.
  const isOffer = life.offer?.atMs === atMs && life.move?.atMs !== atMs
  return moveEnded(isOffer ? { ...life, offer: undefined } : life, atMs)
}

function moveEnded(life: Lifecycle, atMs: number): Lifecycle {
  const { move: present } = life
  const isLast = present?.step === MoveStep.Take || present?.step === MoveStep.Release
  return isLast && present.atMs === atMs ? { ...life, move: undefined } : life
}

/** The old host does not hold it, the new host could not fetch it, or the row could not name that host. */
export function moveFailed(
  life: Lifecycle,
  { atMs, why }: EventOf<typeof EventKind.MoveFailed>,
  nowMs: number,
): Lifecycle {
  const { move: present } = life
  if (present === undefined || present.atMs !== atMs) return life
  const { step, boot } = present
  if (step !== MoveStep.Hold && step !== MoveStep.Fetch && step !== MoveStep.Row) return life
  const over = moveOver(life, why, nowMs)
  // Nothing of an instance that never ran is held.
  if (boot === undefined) return over
  return { ...withStep(life, present, MoveStep.Release, nowMs), moveFailure: over.moveFailure }
}

/** Takes the move a step on, or ends it, according to what the event made of the instance. */
export function moveOn(life: Lifecycle, event: LifecycleEvent, nowMs: number): Lifecycle {
  return withoutOverOffer(stepOn(life, event, nowMs))
}

/** Only a host that has the instance, and does not hold it, needs to hear that its offer is over. */
function withoutOverOffer(life: Lifecycle): Lifecycle {
  const { offer, move: present, deletion, placing } = life
  const isHeld = present !== undefined && isWithHosts(present.step)
  const isOver = offer !== undefined && (isHeld || placing === true || deletion !== undefined)
  return isOver ? { ...life, offer: undefined } : life
}

function stepOn(life: Lifecycle, event: LifecycleEvent, nowMs: number): Lifecycle {
  const { move: present, state, deletion, placing } = life
  if (present === undefined || present.step === MoveStep.Row) return life
  if (deletion !== undefined) return { ...life, move: undefined }
  if (present.step === MoveStep.Take || present.step === MoveStep.Release)
    return isDown(state) && placing !== true ? life : { ...life, move: undefined }
  if (placing === true) return moveOver(life, `its host ${present.from.nodeId} was lost`, nowMs)
  const isEnding = state === InstanceState.Stopping || state === InstanceState.Draining
  if (event.kind === EventKind.Stop && isEnding)
    return moveOver(life, 'it was asked to stop before it had moved', nowMs)
  if (present.step === MoveStep.Wanted) return begun(life, present, nowMs)
  if (present.step === MoveStep.Copy) return isCopying(life) ? life : notCopying(life, present, nowMs)
  if (isDown(state) || isHeldBack(life)) return life
  const wanted = { ...present, step: MoveStep.Wanted, boot: undefined, permit: undefined }
  const again = { ...life, move: wanted }
  // A move without a copy goes on with the next event, as in histories from before copies existed.
  return present.copies === true ? begun(again, wanted, nowMs) : again
}

/** Whether its start waits for the move. A wake by traffic came before the hold, so the move waits for it. */
export function isHeldBack({ state, startOrigin, move: present }: Lifecycle): boolean {
  const isHeld = present !== undefined && isWithHosts(present.step)
  return isHeld && state === InstanceState.Starting && startOrigin !== StartOrigin.Traffic
}

/** Whether the boot whose volume is copied runs on. */
function isCopying({ state, boot, offer }: Lifecycle): boolean {
  return state === InstanceState.Running && offer?.boot === boot
}

/** The VM whose volume was copied has ended, or will. If the instance runs again, it is not copied again. */
function notCopying(life: Lifecycle, present: Move, nowMs: number): Lifecycle {
  const wanted = { ...present, copies: undefined, step: MoveStep.Wanted, sinceMs: Math.floor(nowMs) }
  return begun({ ...life, move: wanted }, wanted, nowMs)
}

/** Begins the move if the instance is in a state to move from. */
function begun(life: Lifecycle, present: Move, nowMs: number): Lifecycle {
  const { state, boot, permit, order, retryAtMs, reopen, suspend, givenUp, offer } = life
  // The old host has to end what it offers for another move first: a late answer to that would end a hold.
  if (offer !== undefined && offer.atMs !== present.atMs) return life
  if (order !== undefined || retryAtMs !== undefined) return life
  if (state === InstanceState.Running) {
    if (reopen === true || suspend !== undefined) return life
    if (present.copies === true)
      return withStep({ ...life, offer: { atMs: present.atMs, boot } }, present, MoveStep.Copy, nowMs)
    const { order: plain, permit: next } = orderOf(life, present.atMs)
    const { to, volume } = present
    const held = { ...plain, drainMs: 0, hold: to, ...(volume && { volume }) }
    return { ...life, order: held, permit: next, awakeUntilMs: undefined }
  }
  const sleeps = state === InstanceState.Standby && changeToTell(life) === undefined
  const isStopped = state === InstanceState.Stopped && givenUp === undefined
  // Only a volume can be there of one that never ran.
  if (isStopped && boot === 0 && present.volume === undefined)
    return withStep(life, present, MoveStep.Row, nowMs)
  if (!sleeps && !isStopped) return life
  return withStep(life, { ...present, boot, ...(sleeps && { permit }) }, MoveStep.Hold, nowMs)
}

function atStep({ move: present }: Lifecycle, step: MoveStep, atMs: number): Move | undefined {
  return present?.step === step && present.atMs === atMs ? present : undefined
}

function withStep(life: Lifecycle, present: Move, step: MoveStep, nowMs: number): Lifecycle {
  return { ...life, move: { ...present, step, sinceMs: Math.floor(nowMs) } }
}
