import type { EntityManager } from '@mikro-orm/postgresql'
import type { AutoscaleOutcome } from '../../domain/autoscale/outcome.ts'
import { Drain, planAlignment, targetAfter } from '../../domain/autoscale/alignment.ts'
import type { RetiringMember } from '../../domain/autoscale/alignment.ts'
import { sizeOf, standingOf } from '../../domain/autoscale/members.ts'
import type { DecisionReport } from '../../domain/autoscale/report.ts'
import type { InstanceSettings } from '../../domain/instance/settings.ts'
import { keepDecision, rewriteDecision } from './decisions.ts'
import { lockAutoscale } from './lock.ts'
import type { LockedAutoscale } from './lock.ts'
import { findRetiredAmong, lookAtMembers } from './records.ts'
import type { RetiredClone } from './records.ts'
import { insertClone } from './clone-insert.ts'
import type { InsertedClone } from './clone-insert.ts'
import type { CreateInstancesDeps } from '../instance/create.ts'
import { notifyInstanceSql } from '../instance/channel.ts'
import { findByUuids } from '../instance/instances.ts'
import { randomSuffix } from '../random-suffix.ts'
import { workflowSettings } from '../instance/settings.ts'

export interface AlignDeps extends CreateInstancesDeps {
  readonly nowMs: () => number
}

export interface WantedSize {
  readonly serviceUuid: string
  /** Absent: as many as there are. Bounded by the configuration as it is then. */
  readonly target?: number
  /** What it is done for: kept, for people. What it names as failed goes, unless it recovered meanwhile. */
  readonly cause: AutoscaleOutcome
  /** False: only what is too much is given back. */
  readonly mayAdd: boolean
}

export type Aligned =
  /** The configuration is deleted, or there is none, or its master is gone: there is nothing to align. */
  | { readonly closing: true }
  | {
      readonly closing?: never
      /** Instances of the size before and afterwards. */
      readonly before: number
      readonly after: number
      /** What is wanted from then on. */
      readonly target: number
      /** Their workflows have to be started. */
      readonly added: readonly InstanceSettings[]
      /** Their workflows have to be told. */
      readonly retired: readonly RetiredClone[]
      /** Why not all were added, for people; never a secret. */
      readonly refusal?: string
    }

/**
 * Makes a service have `target` instances, whatever it has: gives back what is too much, failed or down, all
 * at once, and adds clones one by one, a transaction each, until there are as many or one is refused. It
 * counts what there is within every transaction, so it may be repeated after whatever end it came to, and run
 * beside itself: nothing is added twice. What was done is kept with the cause, in the transactions that did
 * it. No workflow is told.
 */
export async function alignClones(deps: AlignDeps, wanted: WantedSize): Promise<Aligned> {
  const trimmed = await inTransaction(deps, (em) => trim(em, deps, wanted))
  if (trimmed === 'closing') return { closing: true }
  const { before, missing } = trimmed
  const log: DecisionLog = { position: trimmed.position, report: trimmed.report, target: trimmed.target }
  const added: string[] = []
  let refusal: string | undefined
  for (let index = 0; wanted.mayAdd && index < missing; index++) {
    const step = await inTransaction(deps, (em) => addOne(em, deps, { wanted, log }))
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

/** What is written down of one alignment while it goes on. */
interface DecisionLog {
  position: string | undefined
  report: DecisionReport
  target: number
}

async function inTransaction<T>(
  { database }: AlignDeps,
  step: (em: EntityManager) => Promise<T>,
): Promise<T> {
  return database.em().transactional(step)
}

interface Looked {
  readonly locked: LockedAutoscale
  readonly masterUuid: string
  readonly target: number
  readonly plan: ReturnType<typeof planAlignment>
  /** Of the size, before anybody goes. */
  readonly size: number
}

async function look(
  em: EntityManager,
  { nowMs }: AlignDeps,
  { serviceUuid, target: asked, cause }: WantedSize,
): Promise<Looked | 'closing'> {
  const locked = await lockAutoscale(em, serviceUuid)
  if (locked === undefined || locked.deletedAtMs !== null || locked.masterUuid === null) return 'closing'
  const { masterUuid, minSize, maxSize } = locked
  const now = nowMs()
  const members = (await lookAtMembers(em, { serviceUuid, masterUuid })).map((member) => ({
    ...member,
    standing: standingOf(member, locked, now),
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

async function trim(em: EntityManager, deps: AlignDeps, wanted: WantedSize) {
  const looked = await look(em, deps, wanted)
  if (looked === 'closing') return looked
  const { locked, target, plan, size: before } = looked
  const { serviceUuid, cause } = wanted
  await writeTarget(em, serviceUuid, target)
  await retire(em, plan.retire, locked.cooldownMs)
  const givenBack = plan.retire.map(({ name }) => name)
  const report: DecisionReport = { cause, before, after: plan.size, added: [], givenBack }
  const position = givenBack.length === 0 ? undefined : await keepDecision(em, serviceUuid, report)
  return { before, target, missing: plan.missing, retire: plan.retire, report, position }
}

async function addOne(
  em: EntityManager,
  deps: AlignDeps,
  { wanted, log }: { readonly wanted: WantedSize; readonly log: DecisionLog },
): Promise<Exclude<InsertedClone, 'no-master'> | 'closing' | 'enough'> {
  const looked = await look(em, deps, wanted)
  if (looked === 'closing') return looked
  if (looked.plan.missing === 0) return 'enough'
  const { serviceUuid } = wanted
  const { locked, masterUuid, plan } = looked
  const writer = { secretBox: deps.secretBox, randomSuffix: deps.randomSuffix ?? randomSuffix }
  const made = await insertClone(em, writer, { user: locked.user, serviceUuid, masterUuid })
  if (made === 'no-master') return 'closing'
  const report =
    'refusal' in made
      ? { ...log.report, after: plan.size, refusal: made.refusal }
      : { ...log.report, after: plan.size + 1, added: [...log.report.added, made.name] }
  if ('refusal' in made) {
    const refused = { size: plan.size, target: looked.target, refusal: made.refusal }
    log.target = targetAfter(refused, { cause: wanted.cause.kind, minSize: locked.minSize })
    await writeTarget(em, serviceUuid, log.target)
  }
  if (log.position === undefined) log.position = await keepDecision(em, serviceUuid, report)
  else await rewriteDecision(em, log.position, report)
  log.report = report
  return made
}

/** The size that a workflow goes on from that has to begin anew. */
async function writeTarget(em: EntityManager, serviceUuid: string, target: number): Promise<void> {
  await em.execute(
    'update autoscale_configurations set target = ? where service_uuid = ?',
    [target, serviceUuid],
    'run',
  )
}

/** From now on nobody counts them; their workflows stop them, and delete them when they have. */
async function retire(
  em: EntityManager,
  members: readonly RetiringMember[],
  cooldownMs: number,
): Promise<void> {
  for (const drain of Object.values(Drain)) {
    const uuids = members.filter((member) => member.drain === drain).map(({ uuid }) => uuid)
    if (uuids.length === 0) continue
    await em.execute(
      `with changed as (update instances set retired_at = now(), retire_drain_ms = ?
         where uuid in (${uuids.map(() => '?').join(', ')}) and clone_of is not null
           and retired_at is null and deleted_at is null returning uuid)
       ${notifyInstanceSql('changed')}`,
      [drainMs[drain](cooldownMs), ...uuids],
    )
  }
}

/** Of two drains the earlier end counts, so the longest there is leaves one that is under way as it is. */
const longestDrainMs = 3_600_000
const drainMs = {
  [Drain.None]: () => 0,
  [Drain.Cooldown]: (cooldownMs) => cooldownMs,
  [Drain.AsAsked]: () => longestDrainMs,
} satisfies Record<Drain, (cooldownMs: number) => number>
