import { log } from '@temporalio/activity'
import {
  hostToMoveTo,
  instancesToMove,
  isDraining,
  movesUnderWay,
  readMoveOf,
} from '../../src/db/host/drain.ts'
import { planMove } from '../../src/db/instance/move.ts'
import type { InstanceRow } from '../../src/db/instance/row.ts'
import { workflowSettings } from '../../src/db/instance/settings.ts'
import { orRefusal } from '../../src/db/refused.ts'
import type { DrainPage } from '../../src/domain/host/drain.ts'
import { InstanceGone } from '../../src/domain/instance/instance-gone.ts'
import { MoveStep } from '../../src/domain/instance/lifecycle-state.ts'
import { moveSentence } from '../../src/domain/instance/move-words.ts'
import { MoveRefused } from '../../src/domain/instance/move-refused.ts'
import type { InstanceMove } from '../../src/domain/instance/projection.ts'
import type { HostLossDeps } from './host-deps.ts'

/** How many instances move at a time, so that a drain does not take all of a machine's network and disk. */
const atOnce = 2
const lookMs = 200
/** The pause while others move away, because they took longer than `patienceMs`. */
const busyMs = 1_000
/** How long a move is waited for. It goes on after that, and nothing else begins until it is over. */
const patienceMs = 90_000
/** How long a move is waited for that can not begin, because the instance starts or stops. */
const wishPatienceMs = 20_000
/** When an instance is tried again that could not move. Each try may hold up its traffic. */
const tryAgainMs = 60_000

type DrainDeps = Pick<HostLossDeps, 'database' | 'instances' | 'refusalSentence' | 'pause'>

/** Moves some instances of a draining host to other hosts, those after `after`. */
export async function drainSome(
  deps: DrainDeps,
  hostId: string,
  { after, signal }: { readonly after: string | undefined; readonly signal: AbortSignal },
): Promise<DrainPage> {
  const { database, pause } = deps
  const free = atOnce - (await movesUnderWay(database, hostId))
  if (free <= 0) {
    await pause(busyMs, signal)
    return { moved: 0, stuck: [], after, isOver: false }
  }
  const rows = await instancesToMove(database, hostId, { after, limit: free })
  const outcomes = await Promise.all(
    rows.map(async (row) => ({ name: row.name, ...(await moveAway(deps, row, signal)) })),
  )
  const stuck = outcomes.flatMap(({ name, why }) => (why === undefined ? [] : [{ name, why }]))
  const isOver = rows.length < free
  const moved = outcomes.filter(({ hasMoved }) => hasMoved === true).length
  return { moved, stuck, after: isOver ? undefined : rows.at(-1)?.uuid, isOver }
}

/** Nothing is said of an instance that is not there any more. */
interface Outcome {
  readonly hasMoved?: true
  readonly why?: string
}

/** One that can not be asked, or can not move, must not hold up the others. */
async function moveAway(deps: DrainDeps, row: InstanceRow, signal: AbortSignal): Promise<Outcome> {
  try {
    const outcome = await tryToMove(deps, row, signal)
    if (outcome.why !== undefined)
      log.warn('an instance could not move away from a host that is to be emptied', {
        uuid: row.uuid,
        why: outcome.why,
      })
    return outcome
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof MoveRefused) return { why: error.message }
    if (error instanceof InstanceGone) return { why: 'it is being deleted' }
    log.warn('an instance could not be asked to move away', { err: error, uuid: row.uuid })
    return { why: 'it could not be asked' }
  }
}

async function tryToMove(deps: DrainDeps, row: InstanceRow, signal: AbortSignal): Promise<Outcome> {
  const { database, instances, refusalSentence } = deps
  const { failure: before, sinceMs = 0, to: last } = row.move ?? {}
  if (before !== undefined && Date.now() - sinceMs < tryAgainMs) return { why: before }
  // Another host may be the best one by now, but a copy of its volume would begin anew for that.
  if (row.move?.step !== undefined && row.move.step !== MoveStep.Wanted) return { why: stillMoving(row.move) }
  if (!(await isDraining(database, row.nodeId))) return {}
  const except = before === undefined ? undefined : last?.nodeId
  const choice = await orRefusal(async () => await hostToMoveTo(database, row, except))
  if (!choice.ok) return { why: refusalSentence(choice.refusal) }
  const plan = await planMove(database, row, choice.value)
  if (!plan.ok) return { why: plan.why }
  const { from, to, volume } = plan
  const requestId = `drain/${row.uuid}/${Date.now()}`
  const { revision } = await instances.move(
    workflowSettings(row),
    { from, to, ...(volume && { volume }) },
    requestId,
  )
  return await outcomeOf(deps, { row, revision }, signal)
}

async function outcomeOf(
  { database, pause }: DrainDeps,
  { row: { uuid, nodeId }, revision }: { readonly row: InstanceRow; readonly revision: number },
  signal: AbortSignal,
): Promise<Outcome> {
  let wishedMs = 0
  let why = 'it is still moving'
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
    await pause(lookMs, signal)
    const now = await readMoveOf(database, uuid)
    if (now === undefined) return {}
    if (now.nodeId !== nodeId) return { hasMoved: true }
    // The workflow of the host has to look at it now.
    if (!now.isLive) return { why: 'its host does not answer' }
    if (now.revision < revision) continue
    if (now.move?.step === undefined) return { why: now.move?.failure ?? 'it was to stay' }
    wishedMs = now.move.step === MoveStep.Wanted ? wishedMs + lookMs : 0
    if (wishedMs > wishPatienceMs) return { why: 'it has to start or to stop before it can move' }
    why = stillMoving(now.move)
  }
  return { why }
}

function stillMoving(move: InstanceMove): string {
  return moveSentence(move) ?? 'it is still moving'
}
