import { workflowSettings } from '../../src/db/instance/settings.ts'
import { deleteLeft } from '../../src/db/rollout/ending.ts'
import { makeMove } from '../../src/db/rollout/moves.ts'
import { readRolloutFacts } from '../../src/db/rollout/facts.ts'
import type { ReadRollout } from '../../src/db/rollout/facts.ts'
import { decideRollout } from '../../src/domain/rollout/decision.ts'
import type { RolloutMove } from '../../src/domain/rollout/decision.ts'
import { RolloutPhase } from '../../src/domain/rollout/phase.ts'
import { awaitedWords, moveWords } from '../../src/domain/rollout/words.ts'
import { runStep } from '../control-step.ts'
import type { RolloutActivities, RolloutNext } from './activities.ts'
import type { RolloutDeps } from './rollout-deps.ts'
import { measureStep } from './traffic.ts'
import { check, noteFailed, order, tell } from './work.ts'

/** More moves in one call than any rollout makes without a pause. */
const mostMoves = 20
const pauseMs = 1_000

export function createRolloutActivities(deps: RolloutDeps): RolloutActivities {
  return {
    continueRollout: (uuid) => runStep('look at a rollout', () => look(deps, uuid)),
  }
}

async function look(deps: RolloutDeps, uuid: string): Promise<RolloutNext> {
  const done: string[] = []
  let last: RolloutPhase = RolloutPhase.Preparing
  for (let count = 0; count < mostMoves; count++) {
    const read = await readRolloutFacts(deps.database, uuid)
    if (read === undefined) return endWithService(deps, uuid, done)
    const { phase } = read.facts
    const traffic = phase === RolloutPhase.Baking ? await measureStep(deps, read.rollout) : undefined
    const facts = { ...read.facts, ...(traffic && { traffic }) }
    const move = decideRollout(facts, deps.nowMs())
    if (move.kind === 'over') return { phase, now: awaitedWords(facts), done }
    if (move.kind === 'wait') return { waitMs: move.ms, phase, now: awaitedWords(facts), done }
    const made = await make(deps, read, move)
    if (made === undefined) return { waitMs: pauseMs, phase, now: awaitedWords(facts), done }
    const words = moveWords(made, facts)
    if (words !== undefined) done.push(words)
    last = phase
  }
  return { waitMs: pauseMs, phase: last, now: 'more is to be done', done }
}

/** A deleted service takes the old version with it that a rollout keeps. */
async function endWithService(
  deps: RolloutDeps,
  uuid: string,
  before: readonly string[],
): Promise<RolloutNext> {
  const rows = await deleteLeft(deps.database, uuid)
  for (const row of rows) await deps.instances.delete(workflowSettings(row))
  const deleted = rows.map(({ name }) => `deleted ${name}, which was kept for a service that is deleted`)
  return { phase: RolloutPhase.Returned, now: 'its service is deleted', done: [...before, ...deleted] }
}

type Move = Exclude<RolloutMove, { readonly kind: 'wait' | 'over' }>

/**
 * Makes a move, or another one if it was not possible. Returns what was made. Undefined: nothing was, and it
 * is to be tried again after a pause.
 */
async function make(deps: RolloutDeps, read: ReadRollout, move: Move): Promise<Move | undefined> {
  if (move.kind === 'start' || move.kind === 'stop') return orderSide(deps, read, move)
  // What was counted with the share of the step before is not of the new step. Before the first one there is
  // nothing, and requests may be waiting.
  if (move.kind === 'give' && read.rollout.step > 0) await measureStep(deps, read.rollout)
  if (move.kind === 'check') await check(deps, read, move)
  else {
    const rows = await makeMove(deps, read.rollout, move)
    const what = toldAfter[move.kind]
    if (what !== undefined) await tell(deps, read, { rows, what })
  }
  return move
}

/** What the workflows of the instances are told that a move wrote. */
const toldAfter: Partial<Record<Move['kind'], 'begin' | 'retire' | 'delete'>> = {
  grow: 'begin',
  'turn-back': 'retire',
  forget: 'delete',
}

/** A new version that can not be started goes back. An old one is tried again for as long as it may take. */
async function orderSide(
  deps: RolloutDeps,
  read: ReadRollout,
  move: Extract<Move, { readonly kind: 'start' | 'stop' }>,
): Promise<Move | undefined> {
  const hindered = await order(deps, read, move)
  if (hindered === undefined) return move
  if (read.rollout.phase === RolloutPhase.Preparing) {
    const reason = `${hindered.name} can not be started: ${hindered.why}`
    const instead = { kind: 'go-back', reason } as const
    await makeMove(deps, read.rollout, instead)
    return instead
  }
  await noteFailed(deps, read, hindered)
  return undefined
}
