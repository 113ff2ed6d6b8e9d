import { InstanceState } from '../../domain/instance/state.ts'
import type { RolloutFacts, RolloutInstance } from '../../domain/rollout/decision.ts'
import { RolloutPhase } from '../../domain/rollout/phase.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { Database } from '../database.ts'
import type { InstanceRow } from '../instance/row.ts'
import type { Db } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { pairsOf } from './ending.ts'
import { readRollout, readVersions } from './locked.ts'
import type { Versions } from './locked.ts'
import type { RolloutRow } from './row.ts'

/** A rollout with all rows that a decision is made from. */
export interface ReadRollout {
  readonly rollout: RolloutRow
  readonly serviceName: string
  readonly next: readonly InstanceRow[]
  readonly old: readonly InstanceRow[]
  readonly facts: Omit<RolloutFacts, 'traffic'>
}

/** Reads a rollout. Undefined if it is gone with its service. */
export async function readRolloutFacts({ db }: Database, uuid: string): Promise<ReadRollout | undefined> {
  const rollout = await readRollout(db, uuid)
  if (rollout === undefined) return undefined
  const { serviceUuid } = rollout
  const service = await db
    .selectFrom('services')
    .leftJoin('autoscaleConfigurations', (join) =>
      join
        .onRef('autoscaleConfigurations.serviceUuid', '=', 'services.uuid')
        .on('autoscaleConfigurations.deletedAt', 'is', null),
    )
    .select(['services.name', 'rolloutUuid', 'rolloutPercent', 'rolloutHeld', 'masterUuid'])
    .where('services.uuid', '=', serviceUuid)
    .executeTakeFirst()
  if (service === undefined) return undefined
  const versions = await readVersions(db, serviceUuid, uuid)
  const old = oldOf(versions)
  const { next } = versions
  const words = await lastWords(db, next.filter(hasEnded))
  const { plan, step, phase, since, progress, recalledBy, revives, hasVolumes, keptUntil } = rollout
  const show = (row: InstanceRow): RolloutInstance => shown(row, { rollout, pair: [...next, ...old], words })
  return {
    rollout,
    serviceName: service.name,
    next,
    old,
    facts: {
      plan,
      phase,
      step,
      sinceMs: since.getTime(),
      isRecalled: recalledBy !== null && phase !== RolloutPhase.Returning,
      revives,
      hasVolumes,
      isHeld: service.rolloutHeld && service.rolloutUuid === uuid,
      ...(service.rolloutUuid === uuid && { percent: service.rolloutPercent ?? 0 }),
      wanted: wantedOf(rollout, versions, service.masterUuid),
      isIncomplete: next.filter(({ replaces }) => replaces !== null).length < rollout.replaced,
      next: next.map(show),
      old: old.map(show),
      asked: new Set(progress.asked),
      ...(keptUntil !== null && { keptUntilMs: keptUntil.getTime() }),
    },
  }
}

/** The instances that the new ones replace, attached or kept. Autoscale's clones are not among them. */
function oldOf({ next, present, kept }: Versions): readonly InstanceRow[] {
  return kept.length > 0 ? kept : pairsOf(next, present).map(({ old }) => old)
}

/**
 * How many instances the new version needs for this step. Each instance has its counterpart from the
 * beginning; of a master, autoscale's clones have theirs as far as the share of the traffic asks for it.
 */
function wantedOf(
  { plan, step }: RolloutRow,
  { next, present }: Versions,
  masterUuid: string | null,
): number {
  const counterparts = next.filter(({ replaces }) => replaces !== null).length
  const scaled = present.filter(({ uuid, cloneOf }) => uuid === masterUuid || cloneOf === masterUuid)
  if (!next.some(({ replaces }) => replaces !== null && replaces === masterUuid)) return counterparts
  const share = plan.canary[step] ?? 100
  return counterparts - 1 + Math.max(1, Math.ceil((scaled.length * share) / 100))
}

interface Shown {
  readonly rollout: RolloutRow
  readonly pair: readonly InstanceRow[]
  readonly words: ReadonlyMap<string, string>
}

function shown(row: InstanceRow, { rollout, pair, words }: Shown): RolloutInstance {
  const { uuid, name, state, restartCount } = row
  const check = rollout.progress.checks?.[uuid]
  const trouble = words.get(uuid) ?? row.failure ?? undefined
  const counterpart = pair.find((other) => other.uuid === row.replaces || other.replaces === uuid)
  const needsVolume = row.volumeUuid !== null || (counterpart?.volumeUuid ?? null) !== null
  return {
    uuid,
    name,
    state,
    restartCount,
    ...(trouble !== undefined && { trouble }),
    passed: check?.passed ?? 0,
    ...(check?.failed !== undefined && { failed: check.failed }),
    ...(check?.checkedAtMs !== undefined && { checkedAtMs: check.checkedAtMs }),
    hasVolume: !needsVolume || row.volumeUuid !== null,
  }
}

/** Whether the instance ran and ended, or failed to. */
function hasEnded({ state, boot, restartCount }: InstanceRow): boolean {
  return (state === InstanceState.Stopped && boot > 0) || restartCount > 0
}

/** How these instances last ended, as their events tell it. */
async function lastWords(db: Db, rows: readonly InstanceRow[]): Promise<ReadonlyMap<string, string>> {
  if (rows.length === 0) return new Map()
  const found = await db
    .selectFrom('events')
    .distinctOn('objectUuid')
    .select(['objectUuid', 'why'])
    .where('objectUuid', '=', anyOf(rows.map(({ uuid }) => uuid)))
    .where('kind', '=', anyOf([UserEventKind.InstanceState, UserEventKind.InstanceFailure]))
    .where((eb) =>
      eb.or([eb('stateAfter', '=', InstanceState.Stopped), eb('kind', '=', UserEventKind.InstanceFailure)]),
    )
    .orderBy('objectUuid')
    .orderBy('position', 'desc')
    .execute()
  return new Map(found.map(({ objectUuid, why }) => [objectUuid!, why]))
}
