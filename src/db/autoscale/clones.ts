import type { AutoscaleOutcome } from '../../domain/autoscale/outcome.ts'
import { Drain, planAlignment, targetAfter } from '../../domain/autoscale/alignment.ts'
import type { RetiringMember } from '../../domain/autoscale/alignment.ts'
import { sizeOf, standingOf } from '../../domain/autoscale/members.ts'
import type { DecisionReport } from '../../domain/autoscale/report.ts'
import type { InstanceSettings } from '../../domain/instance/settings.ts'
import { writeEvents } from '../event/write.ts'
import { retiredEvents } from './retired-events.ts'
import { keepDecision, rewriteDecision } from './decisions.ts'
import { lockAutoscale } from './lock.ts'
import type { LockedAutoscale } from './lock.ts'
import { findRetiredAmong, lookAtMembers } from './records.ts'
import type { RetiredClone } from './records.ts'
import { insertClone } from './clone-insert.ts'
import type { InsertedClone } from './clone-insert.ts'
import type { CreateInstancesDeps } from '../instance/create.ts'
import { countNotified } from '../instance/channel.ts'
import { findByUuids } from '../instance/instances.ts'
import { randomSuffix } from '../random-suffix.ts'
import { workflowSettings } from '../instance/settings.ts'
import type { Db } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { now } from '../sql/time.ts'

export interface AlignDeps extends CreateInstancesDeps {
  readonly nowMs: () => number
}

export interface WantedSize {
  readonly serviceUuid: string
  /**
   * The wanted number of instances. Absent: as many as count now. The smallest and the largest size of the
   * configuration bound this number when the alignment is carried out.
   */
  readonly target?: number
  /**
   * The reason, which the decision shows to people. Clones that the cause names as failed are given back
   * unless they recovered meanwhile.
   */
  readonly cause: AutoscaleOutcome
  /** Whether clones may be added. False: clones are only given back. */
  readonly mayAdd: boolean
}

export type Aligned =
  /** There is nothing to align: the configuration is deleted or does not exist, or its master is gone. */
  | { readonly closing: true }
  | {
      readonly closing?: never
      /** How many instances counted for the size before, and how many do after the alignment. */
      readonly before: number
      readonly after: number
      /** The size that is wanted from then on. */
      readonly target: number
      /** The new clones. Their workflows have to be started. */
      readonly added: readonly InstanceSettings[]
      /** The clones that were given back. Their workflows have to be told. */
      readonly retired: readonly RetiredClone[]
      /** Why not all missing clones were added, for people. It never holds a secret. */
      readonly refusal?: string
    }

/**
 * Aligns a service: adds or gives back clones until `target` instances count for its size. One transaction
 * gives back all clones that are too many, failed or down. Then each missing clone is added in a transaction
 * of its own, until there are enough or a clone is refused. Every transaction counts the instances again, so
 * nothing is added twice: two calls may run at once, and a call that failed may be repeated. The decision,
 * with its cause, is kept in the transactions that carry it out. No workflow is told.
 */
export async function alignClones(deps: AlignDeps, wanted: WantedSize): Promise<Aligned> {
  const trimmed = await inTransaction(deps, (db) => trim(db, deps, wanted))
  if (trimmed === 'closing') return { closing: true }
  const { before, missing } = trimmed
  const log: DecisionLog = { position: trimmed.position, report: trimmed.report, target: trimmed.target }
  const added: string[] = []
  let refusal: string | undefined
  for (let index = 0; wanted.mayAdd && index < missing; index++) {
    const step = await inTransaction(deps, (db) => addOne(db, deps, { wanted, log }))
    if (step === 'closing') return { closing: true }
    if (step === 'enough') break
    if ('refusal' in step) {
      refusal = step.refusal
      break
    }
    added.push(step.uuid)
  }
  return {
    before,
    after: log.report.after,
    target: log.target,
    added: (await findByUuids(deps.database, added)).map(workflowSettings),
    retired: await findRetiredAmong(
      deps.database,
      trimmed.retire.map(({ uuid }) => uuid),
    ),
    ...(refusal !== undefined && { refusal }),
  }
}

/** The decision of one alignment, which is written again after each step. */
interface DecisionLog {
  /** Undefined until the decision is written for the first time. */
  position: number | undefined
  report: DecisionReport
  target: number
}

async function inTransaction<T>({ database }: AlignDeps, step: (db: Db) => Promise<T>): Promise<T> {
  return database.db.transaction().execute(step)
}

/** The rows that a step has locked, and the alignment that is left to do as these rows are now. */
interface LockedPlan {
  readonly locked: LockedAutoscale
  readonly masterUuid: string
  readonly target: number
  readonly plan: ReturnType<typeof planAlignment>
  /** How many instances count for the size before any is given back. */
  readonly size: number
}

async function lockAndPlan(
  db: Db,
  { nowMs }: AlignDeps,
  { serviceUuid, target: asked, cause }: WantedSize,
): Promise<LockedPlan | 'closing'> {
  const locked = await lockAutoscale(db, serviceUuid)
  if (locked === undefined || locked.deletedAt !== null || locked.masterUuid === null) return 'closing'
  const { masterUuid, minSize, maxSize } = locked
  const atMs = nowMs()
  const members = (await lookAtMembers(db, { serviceUuid, masterUuid })).map((member) => ({
    ...member,
    standing: standingOf(member, locked, atMs),
  }))
  if (!members.some(({ isMaster }) => isMaster)) return 'closing'
  const size = sizeOf(members)
  const target = Math.min(Math.max(asked ?? size, minSize), maxSize)
  return {
    locked,
    masterUuid,
    target,
    plan: planAlignment(members, { target, cause }),
    size,
  }
}

async function trim(db: Db, deps: AlignDeps, wanted: WantedSize) {
  const planned = await lockAndPlan(db, deps, wanted)
  if (planned === 'closing') return planned
  const { locked, target, plan, size: before } = planned
  const { serviceUuid, cause } = wanted
  await writeTarget(db, serviceUuid, target)
  await retire(db, plan.retire, locked)
  const givenBack = plan.retire.map(({ name }) => name)
  const report: DecisionReport = { cause, before, after: plan.size, added: [], givenBack }
  const position = givenBack.length === 0 ? undefined : await keepDecision(db, locked.service, report, target)
  return { before, target, missing: plan.missing, retire: plan.retire, report, position }
}

async function addOne(
  db: Db,
  deps: AlignDeps,
  { wanted, log }: { readonly wanted: WantedSize; readonly log: DecisionLog },
): Promise<Exclude<InsertedClone, 'no-master'> | 'closing' | 'enough'> {
  const planned = await lockAndPlan(db, deps, wanted)
  if (planned === 'closing') return planned
  if (planned.plan.missing === 0) return 'enough'
  const { serviceUuid } = wanted
  const { locked, masterUuid, plan } = planned
  const writer = { secretBox: deps.secretBox, randomSuffix: deps.randomSuffix ?? randomSuffix }
  const made = await insertClone(db, writer, { user: locked.user, serviceUuid, masterUuid })
  if (made === 'no-master') return 'closing'
  const report =
    'refusal' in made
      ? { ...log.report, after: plan.size, refusal: made.refusal }
      : { ...log.report, after: plan.size + 1, added: [...log.report.added, made.name] }
  if ('refusal' in made) {
    const refused = { size: plan.size, target: planned.target, refusal: made.refusal }
    log.target = targetAfter(refused, { cause: wanted.cause.kind, minSize: locked.minSize })
    await writeTarget(db, serviceUuid, log.target)
  }
  if (log.position === undefined) log.position = await keepDecision(db, locked.service, report, log.target)
  else await rewriteDecision(db, log.position, report)
  log.report = report
  return made
}

/** Writes the size that was decided. A workflow that is started again goes on from this size. */
async function writeTarget(db: Db, serviceUuid: string, target: number): Promise<void> {
  await db
    .updateTable('autoscaleConfigurations')
    .set({ target })
    .where('serviceUuid', '=', serviceUuid)
    .execute()
}

/**
 * Gives clones back. From then on they do not count. Their workflows stop them, and delete them once they
 * have stopped.
 */
async function retire(
  db: Db,
  members: readonly RetiringMember[],
  { cooldownMs, user }: LockedAutoscale,
): Promise<void> {
  await writeEvents(db, retiredEvents(user.uuid, members))
  for (const drain of Object.values(Drain)) {
    const uuids = members.filter((member) => member.drain === drain).map(({ uuid }) => uuid)
    if (uuids.length === 0) continue
    await db
      .with('changed', (db) =>
        db
          .updateTable('instances')
          .set({ retiredAt: now, retireDrainMs: drainMs[drain](cooldownMs) })
          .where('uuid', '=', anyOf(uuids))
          .where('cloneOf', 'is not', null)
          .where('retiredAt', 'is', null)
          .where('deletedAt', 'is', null)
          .returning(['uuid', 'name', 'userUuid']),
      )
      .selectFrom('changed')
      .select((eb) => countNotified(eb.ref('uuid')).as('told'))
      .execute()
  }
}

/**
 * The longest drain that a user can ask for. Of two drains of a clone, the one that ends earlier counts. So
 * this value does not change a drain that is under way.
 */
const longestDrainMs = 3_600_000
const drainMs = {
  [Drain.None]: () => 0,
  [Drain.Cooldown]: (cooldownMs) => cooldownMs,
  [Drain.AsAsked]: () => longestDrainMs,
} satisfies Record<Drain, (cooldownMs: number) => number>
