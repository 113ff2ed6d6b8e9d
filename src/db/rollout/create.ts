import { randomUUID } from 'node:crypto'
import type { Asker } from '../../domain/event/asker.ts'
import { findLimitBreach, liveDemand } from '../../domain/account/quotas.ts'
import type { QuotaAmounts } from '../../domain/account/quotas.ts'
import { changesInWords } from '../../domain/instance/change.ts'
import type { InstanceConfiguration } from '../../domain/instance/change.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import { nameSuffixLength, replicaName } from '../../domain/object-name.ts'
import type { RolloutOrder, RolloutPlan } from '../../domain/rollout/plan.ts'
import { quotasOf, refuseExcess } from '../account/quotas.ts'
import { insertEvents } from '../event/write.ts'
import type { CreateInstancesDeps } from '../instance/create.ts'
import { createdEvents } from '../instance/created-events.ts'
import { configurationOf } from '../instance/change.ts'
import { chooseNames, newInstanceRow } from '../instance/new-instances.ts'
import type { NewInstances } from '../instance/new-instances.ts'
import { holdEveryHost } from '../instance/held-hosts.ts'
import { placeInstances } from '../instance/placement.ts'
import { instanceColumns } from '../instance/row.ts'
import type { InstanceRow } from '../instance/row.ts'
import { json } from '../postgres-client.ts'
import { randomSuffix } from '../random-suffix.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { Db } from '../schema/tables.ts'
import { lockVolume } from '../volume/locked-volume.ts'
import { endEarlier } from './ending.ts'
import { tellRollout } from './events.ts'
import { lockService, readVersions } from './locked.ts'
import type { LockedService } from './locked.ts'
import { removeOldRollouts } from './records.ts'
import { rolloutColumns } from './row.ts'
import type { RolloutRow } from './row.ts'

export interface NewRollout {
  readonly userUuid: string
  readonly serviceUuid: string
  readonly asker: Asker
  /** Without a port, the check asks the first port that the service publishes. */
  readonly plan: RolloutOrder
  /** Ends a rollout that is under way. */
  readonly supersede: boolean
  /**
   * Makes the configuration of a new instance from that of the old one. It is called under the lock of the
   * service. May throw `Refused`.
   */
  readonly apply: (now: InstanceConfiguration) => InstanceConfiguration
  /** Is done in the same transaction. */
  readonly within?: (db: Db, rolloutUuid: string) => Promise<void>
}

export interface CreatedRollout {
  readonly rollout: RolloutRow
  /** The new instances, whose workflows have to be started. */
  readonly instances: readonly InstanceRow[]
}

/**
 * Writes a rollout and the new instances, one for each instance of the service that is not stopped, in one
 * transaction: quotas and room are looked at before anything begins. No workflow is started.
 */
export async function createRollout(
  deps: CreateInstancesDeps,
  wanted: NewRollout,
  keptRollouts: number,
): Promise<
  | { readonly ok: true; readonly value: CreatedRollout }
  | { readonly ok: false; readonly refusal: WriteRefusal }
> {
  return orRefusal(() =>
    deps.database.db.transaction().execute(async (db) => {
      const { userUuid, serviceUuid } = wanted
      await endEarlier(db, await lockService(db, userUuid, serviceUuid), wanted)
      // The end of an earlier rollout has changed what was read.
      const locked = await lockService(db, userUuid, serviceUuid)
      const created = await create(db, deps, { uuid: randomUUID(), locked, wanted })
      await removeOldRollouts(db, wanted.serviceUuid, keptRollouts)
      await wanted.within?.(db, created.rollout.uuid)
      return created
    }),
  )
}

/** An instance of the old version, and what the new one in its place is to be like. */
interface Replaced {
  readonly old: InstanceRow
  readonly before: InstanceConfiguration
  readonly after: InstanceConfiguration
}

async function create(
  db: Db,
  deps: CreateInstancesDeps,
  {
    uuid,
    locked,
    wanted,
  }: { readonly uuid: string; readonly locked: LockedService; readonly wanted: NewRollout },
): Promise<CreatedRollout> {
  const { service } = locked
  const { present } = await readVersions(db, service.uuid, undefined)
  const replaced = present
    .filter(({ cloneOf, state }) => cloneOf === null && isUp(state))
    .map((old): Replaced => {
      const before = configurationOf(deps.secretBox, old)
      return { old, before, after: wanted.apply(before) }
    })
  const [first] = replaced
  if (first === undefined) throw new Refused({ kind: 'nothing-to-roll-out', name: service.name })
  const holder = replaced.find(({ old }) => old.volumeUuid !== null)?.old
  const { canary } = wanted.plan
  if (holder !== undefined && canary.length > 1)
    throw new Refused({ kind: 'volume-in-steps', name: service.name, instance: holder.name })
  await refuseBeyondQuotas(db, locked, { present, replaced })
  const rollout = await db
    .insertInto('rollouts')
    .values({
      uuid,
      userUuid: service.userUuid,
      serviceUuid: service.uuid,
      asker: json(wanted.asker),
      plan: json(planOf(locked, wanted)),
      changes: json(changesOf(replaced)),
      replaced: replaced.length,
      hasVolumes: holder !== undefined,
      wasPersistent: service.persistent,
    })
    .returning(rolloutColumns)
    .executeTakeFirstOrThrow()
  const instances: InstanceRow[] = []
  if (replaced.length > 1) await holdEveryHost(db)
  for (const one of replaced) instances.push(await insertNext(db, deps, { rollout, one }))
  await db
    .updateTable('services')
    .set({ rolloutUuid: uuid, rolloutPercent: 0, rolloutHeld: false, persistent: true })
    .where('uuid', '=', service.uuid)
    .execute()
  const what = rollout.changes.length === 0 ? 'the same version again' : rollout.changes.join('; ')
  await tellRollout(
    db,
    { service, rollout },
    {
      to: rollout.phase,
      why: `a rollout was asked for: ${what}`,
      asker: wanted.asker,
    },
  )
  return { rollout, instances }
}

function isUp(state: InstanceState): boolean {
  return (
    state !== InstanceState.Stopped && state !== InstanceState.Stopping && state !== InstanceState.Draining
  )
}

function planOf({ service }: LockedService, { plan }: NewRollout): RolloutPlan {
  const port = plan.check.port ?? service.ports[0]?.destinationPort
  if (port === undefined) throw new Refused({ kind: 'nothing-to-check', name: service.name })
  return { ...plan, check: { ...plan.check, port } }
}

/** The changes of all instances in words; most have the same. */
function changesOf(replaced: readonly Replaced[]): readonly string[] {
  return [...new Set(replaced.flatMap(({ before, after }) => changesInWords(before, after)))]
}

/** All that the new version may need beside the old one has to fit, the copies for autoscale included. */
async function refuseBeyondQuotas(
  db: Db,
  { user, masterUuid }: LockedService,
  { present, replaced }: { readonly present: readonly InstanceRow[]; readonly replaced: readonly Replaced[] },
): Promise<void> {
  const quotas = await quotasOf(db, user)
  const demands = replaced.map(({ old, after }): Partial<QuotaAmounts> => {
    const breach = findLimitBreach(quotas.limits, after)
    if (breach) throw new Refused({ kind: 'limit', breach })
    const clones = old.uuid === masterUuid ? present.filter(({ cloneOf }) => cloneOf === old.uuid).length : 0
    const count = 1 + clones
    return { instances: count, ...(old.volumeUuid === null && liveDemand(after, count)) }
  })
  refuseExcess(quotas, sumOf(demands))
}

function sumOf(demands: readonly Partial<QuotaAmounts>[]): Partial<QuotaAmounts> {
  const sum: Partial<Record<keyof QuotaAmounts, number>> = {}
  for (const demand of demands)
    for (const [name, amount] of Object.entries(demand) as [keyof QuotaAmounts, number][])
      sum[name] = (sum[name] ?? 0) + amount
  return sum
}

/**
 * Writes the new instance in the place of an old one. If the old one has a volume, the new one does not start
 * yet, and is on the volume's host.
 */
async function insertNext(
  db: Db,
  deps: CreateInstancesDeps,
  { rollout, one }: { readonly rollout: RolloutRow; readonly one: Replaced },
): Promise<InstanceRow> {
  const { old, after } = one
  const { userUuid } = old
  const suffix = deps.randomSuffix ?? randomSuffix
  const volume =
    old.volumeUuid === null ? undefined : await lockVolume(db, { userUuid, volume: { uuid: old.volumeUuid } })
  const starts = volume === undefined
  const [name] = await chooseNames(db, {
    userUuid,
    count: 1,
    propose: () => replicaName(old.name, suffix(nameSuffixLength)),
  })
  const [placement] = await placeInstances(db, {
    count: 1,
    memoryMb: after.memoryMb,
    vcpus: after.vcpus,
    starting: starts,
    ...(old.serviceUuid !== null && {
      group: { serviceUuid: old.serviceUuid, rolloutUuid: rollout.uuid },
    }),
    ...(volume && { volume: { existing: volume } }),
  })
  const { asker } = rollout
  const { args, ...configuration } = after
  const wanted: NewInstances = {
    ...configuration,
    ...(args !== null && { args }),
    userUuid,
    autostart: starts,
    replicas: 0,
    asker,
  }
  const row = newInstanceRow(deps.secretBox, wanted, {
    name: name!,
    service: old.serviceUuid,
    placement: placement!,
    volume: null,
  })
  return db
    .with('told', (db) => insertEvents(db, createdEvents([row], wanted)))
    .insertInto('instances')
    .values({ ...row, rolloutUuid: rollout.uuid, replaces: old.uuid })
    .returning(instanceColumns)
    .executeTakeFirstOrThrow()
}
