import type { Asker } from '../../domain/event/asker.ts'
import type { Asked, RolloutMove, Side } from '../../domain/rollout/decision.ts'
import { Side as Sides, recalled } from '../../domain/rollout/decision.ts'
import { RolloutPhase, isEnded } from '../../domain/rollout/phase.ts'
import type { RolloutProgress } from '../../domain/rollout/progress.ts'
import { beginCounting } from '../../domain/rollout/traffic.ts'
import { insertClone } from '../autoscale/clone-insert.ts'
import { holdEveryHost } from '../instance/held-hosts.ts'
import type { Database } from '../database.ts'
import type { CreateInstancesDeps } from '../instance/create.ts'
import type { InstanceRow } from '../instance/row.ts'
import { json } from '../postgres-client.ts'
import { randomSuffix } from '../random-suffix.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { Db } from '../schema/tables.ts'
import { now } from '../sql/time.ts'
import { forget, pairsOf, setMaster, turnBack } from './ending.ts'
import { enterPhase, tellRollout } from './events.ts'
import { finish, goBack, stay } from './finishing.ts'
import { lockService, readRollout, readVersions } from './locked.ts'
import type { LockedService } from './locked.ts'
import type { RolloutRow } from './row.ts'

/** The moves that only change rows. The others concern hosts and workflows as well. */
export type RowMove = Exclude<RolloutMove, { readonly kind: 'wait' | 'check' | 'stop' | 'start' | 'over' }>

interface Moved {
  readonly locked: LockedService
  readonly rollout: RolloutRow
}

/**
 * Makes a move in one transaction, if the rollout is still in the phase and step from which the move was
 * decided: two callers at once make it once. Returns the instances whose workflows have to be told: those
 * that are new, given back or deleted.
 */
export async function makeMove(
  deps: CreateInstancesDeps,
  { uuid, serviceUuid, userUuid, phase, step }: RolloutRow,
  move: RowMove,
): Promise<readonly InstanceRow[]> {
  return deps.database.db.transaction().execute(async (db) => {
    const locked = await lockService(db, userUuid, serviceUuid)
    const rollout = await readRollout(db, uuid)
    if (rollout === undefined || rollout.phase !== phase || rollout.step !== step) return []
    return carryOut({ db, deps, locked, rollout }, move)
  })
}

type Kinds = RowMove['kind']
type Carried = Promise<readonly InstanceRow[] | void>
type Step<Kind extends Kinds> = (
  of: Moved & { readonly db: Db; readonly deps: CreateInstancesDeps },
  move: Extract<RowMove, { readonly kind: Kind }>,
) => Carried

async function carryOut(of: Parameters<Step<Kinds>>[0], move: RowMove): Promise<readonly InstanceRow[]> {
  const step = steps[move.kind] as (of: Parameters<Step<Kinds>>[0], move: RowMove) => Carried
  return (await step(of, move)) ?? []
}

const steps: { readonly [Kind in Kinds]: Step<Kind> } = {
  grow: ({ db, deps, ...of }, { count }) => grow(db, deps, of, count),
  give: ({ db, ...of }) => give(db, of),
  'next-step': ({ db, ...of }) => nextStep(db, of),
  hold: ({ db, locked }) => hold(db, locked),
  'move-volumes': ({ db, ...of }, { to }) => moveVolumes(db, of, to),
  finish: ({ db, locked, rollout }) => finish(db, locked, rollout),
  'go-back': ({ db, locked, rollout }, { reason }) => goBack(db, locked, { rollout, reason }),
  stay: ({ db, locked, rollout }, { reason }) => stay(db, locked, { rollout, reason }),
  'turn-back': ({ db, locked, rollout }, { reason: more }) => {
    const reason = [rollout.reason, more].filter((one) => typeof one === 'string').join('; ')
    return turnBack(db, locked, rollout, { reason })
  },
  forget: ({ db, locked, rollout }) => forget(db, locked, rollout, 'its time is over'),
}

async function hold(db: Db, { service }: LockedService): Promise<void> {
  await db.updateTable('services').set({ rolloutHeld: true }).where('uuid', '=', service.uuid).execute()
}

/** Makes copies of the new master. If one is refused, the rollout goes back. */
async function grow(
  db: Db,
  deps: CreateInstancesDeps,
  { locked, rollout }: Moved,
  count: number,
): Promise<readonly InstanceRow[]> {
  const { user, service, masterUuid } = locked
  const { next } = await readVersions(db, service.uuid, rollout.uuid)
  const master = next.find(
    ({ uuid, replaces }) => uuid === masterUuid || (replaces !== null && replaces === masterUuid),
  )
  if (master === undefined) return []
  const writer = { secretBox: deps.secretBox, randomSuffix: deps.randomSuffix ?? randomSuffix }
  if (count > 1) await holdEveryHost(db)
  for (let index = 0; index < count; index++) {
    const made = await insertClone(db, writer, { user, serviceUuid: service.uuid, masterUuid: master.uuid })
    if (typeof made === 'object' && 'refusal' in made) {
      const reason = `the new version needs one more instance, which was refused: ${made.refusal}`
      await goBack(db, locked, { rollout, reason })
      break
    }
  }
  const after = await readVersions(db, service.uuid, rollout.uuid)
  return after.next.filter(({ uuid }) => !next.some((before) => before.uuid === uuid))
}

async function give(db: Db, { locked, rollout }: Moved): Promise<void> {
  const { service, masterUuid } = locked
  const percent = rollout.plan.canary[rollout.step] ?? 100
  await db
    .updateTable('services')
    .set({ rolloutPercent: percent, rolloutHeld: false })
    .where('uuid', '=', service.uuid)
    .execute()
  if (percent === 100 && masterUuid !== undefined) {
    const { next } = await readVersions(db, service.uuid, rollout.uuid)
    const master = next.find(({ replaces }) => replaces === masterUuid)
    if (master !== undefined) await setMaster(db, service.uuid, master.uuid)
  }
  await enterPhase(db, { service, rollout }, RolloutPhase.Baking, {
    columns: { progress: json(givenProgress(rollout)) },
    why: `its instances are healthy: the new version gets ${percent} % of the traffic`,
    facts: { percent },
  })
}

async function nextStep(db: Db, { rollout }: Moved): Promise<void> {
  await db
    .updateTable('rollouts')
    .set({
      phase: RolloutPhase.Preparing,
      step: rollout.step + 1,
      since: now,
      progress: json(lastingProgress(rollout)),
    })
    .where('uuid', '=', rollout.uuid)
    .execute()
}

/** Of what was seen in the phase before, the checks still count, and what gateways had counted. */
function lastingProgress({ progress: { checks, traffic } }: RolloutRow): RolloutProgress {
  return { ...(checks !== undefined && { checks }), ...(traffic !== undefined && { traffic }) }
}

/** What is counted from now on is of the new step. */
function givenProgress(rollout: RolloutRow): RolloutProgress {
  const { traffic, ...lasting } = lastingProgress(rollout)
  return traffic === undefined ? lasting : { ...lasting, traffic: beginCounting(traffic) }
}

/** Gives the volumes to the other version. The instances that have them are stopped. */
async function moveVolumes(db: Db, { locked, rollout }: Moved, to: Side): Promise<void> {
  const { next, present } = await readVersions(db, locked.service.uuid, rollout.uuid)
  for (const pair of pairsOf(next, present)) {
    const [from, into] = to === Sides.Next ? [pair.old, pair.next] : [pair.next, pair.old]
    if (from.volumeUuid === null) continue
    const { volumeUuid, volumeAt, volumeReadonly } = from
    await db
      .updateTable('instances')
      .set({ volumeUuid: null, volumeAt: null, volumeReadonly: false })
      .where('uuid', '=', from.uuid)
      .execute()
    await db
      .updateTable('instances')
      .set({ volumeUuid, volumeAt, volumeReadonly })
      .where('uuid', '=', into.uuid)
      .execute()
  }
}

/** Notes what was asked for or seen in the present phase. The phase itself stays. */
export async function noteProgress(
  { db }: Database,
  { uuid, phase, step }: Pick<RolloutRow, 'uuid' | 'phase' | 'step'>,
  change: (before: RolloutProgress) => RolloutProgress,
): Promise<void> {
  await db.transaction().execute(async (db) => {
    const row = await db
      .selectFrom('rollouts')
      .select('progress')
      .where('uuid', '=', uuid)
      .where('phase', '=', phase)
      .where('step', '=', step)
      .forUpdate()
      .executeTakeFirst()
    if (row === undefined) return
    await db
      .updateTable('rollouts')
      .set({ progress: json(change(row.progress)) })
      .where('uuid', '=', uuid)
      .execute()
  })
}

export function withAsked(before: RolloutProgress, asked: Asked): RolloutProgress {
  return { ...before, asked: [...new Set([...(before.asked ?? []), asked])] }
}

/** Notes the user's word to go back, in the newest rollout of the service that can. */
export async function recallRollout(
  { db }: Database,
  {
    userUuid,
    serviceUuid,
    asker,
  }: { readonly userUuid: string; readonly serviceUuid: string; readonly asker: Asker },
): Promise<
  { readonly ok: true; readonly value: RolloutRow } | { readonly ok: false; readonly refusal: WriteRefusal }
> {
  return orRefusal(() =>
    db.transaction().execute(async (db) => {
      const { service } = await lockService(db, userUuid, serviceUuid)
      const { name } = service
      const newest = await db
        .selectFrom('rollouts')
        .select('uuid')
        .where('serviceUuid', '=', serviceUuid)
        .orderBy('position', 'desc')
        .limit(1)
        .executeTakeFirst()
      const rollout = newest && (await readRollout(db, newest.uuid))
      if (rollout === undefined || isEnded(rollout.phase))
        throw new Refused({ kind: 'nothing-to-go-back-to', name })
      if (rollout.phase === RolloutPhase.Returning)
        throw new Refused({ kind: 'rollout-goes-back', name, reason: rollout.reason ?? '' })
      const { kept } = await readVersions(db, serviceUuid, rollout.uuid)
      if (rollout.phase === RolloutPhase.Kept && kept.length === 0)
        throw new Refused({ kind: 'nothing-to-go-back-to', name })
      await db
        .updateTable('rollouts')
        .set({ recalledBy: json(asker) })
        .where('uuid', '=', rollout.uuid)
        .execute()
      await tellRollout(db, { service, rollout }, { why: recalled, asker })
      return { ...rollout, recalledBy: asker }
    }),
  )
}
