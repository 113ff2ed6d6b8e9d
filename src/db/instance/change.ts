import { thePlatform } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { findLimitBreach, liveDemand } from '../../domain/account/quotas.ts'
import type { QuotaAmounts } from '../../domain/account/quotas.ts'
import { footprintMb } from '../../domain/host/memory-room.ts'
import {
  changeFacts,
  changedProperties,
  changesInWords,
  keepsMemory,
  launchProperties,
  pendingProperties,
} from '../../domain/instance/change.ts'
import type { ChangedProperty, InstanceConfiguration } from '../../domain/instance/change.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import { isLive, quotasOf, refuseExcess } from '../account/quotas.ts'
import { lockUser } from '../account/user-lock.ts'
import type { Database } from '../database.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { readMemoryRoom } from '../host/memory.ts'
import { json } from '../postgres-client.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { Db, Row } from '../schema/tables.ts'
import type { SecretBox } from '../secret-box.ts'
import { instanceColumns, openEnv, scaleToZeroOf, sealEnv } from './row.ts'
import type { InstanceRow } from './row.ts'

export interface InstanceChange {
  readonly userUuid: string
  readonly uuid: string
  readonly asker?: Asker
  /** Replace a boot that runs, or a kept memory, if it lacks a change. */
  readonly restart: boolean
  /** How long what is connected may take to end before that. */
  readonly drainMs: number
  /**
   * Makes the new configuration from the one that the row has. It is called under the lock of the row, so two
   * changes at once both take effect. May throw `Refused`.
   */
  readonly apply: (now: InstanceConfiguration) => InstanceConfiguration
}

export interface ChangeOutcome {
  readonly row: InstanceRow
  readonly changed: readonly ChangedProperty[]
  /** Whether the workflow has something to hear. */
  readonly isTold: boolean
}

/**
 * Changes the configuration of an instance, and writes the event that tells what was before and after.
 * Nothing is written if nothing differs and no restart is needed. The workflow is not told; the sweep tells
 * it later if nobody else does (`findUntold`). Locks are taken in the order of `insertInstances`. The outcome
 * is undefined if the user has no such instance.
 */
export async function changeInstance(
  deps: { readonly database: Database; readonly secretBox: SecretBox },
  change: InstanceChange,
): Promise<
  | { readonly ok: true; readonly value: ChangeOutcome | undefined }
  | { readonly ok: false; readonly refusal: WriteRefusal }
> {
  const { db } = deps.database
  return orRefusal(() => db.transaction().execute(async (db) => changeLocked(db, deps.secretBox, change)))
}

async function changeLocked(
  db: Db,
  box: SecretBox,
  change: InstanceChange,
): Promise<ChangeOutcome | undefined> {
  const user = await lockUser(db, change.userUuid)
  const row = await lockRow(db, change)
  if (row === undefined) return undefined
  if (row.cloneOf !== null) throw new Refused({ kind: 'change-of-clone', name: row.name })
  const before = configurationOf(box, row)
  const after = change.apply(before)
  const changed = changedProperties(before, after)
  const version = row.configVersion + 1
  const versions = { ...row.changedProperties, ...Object.fromEntries(changed.map((name) => [name, version])) }
  const needing = pendingProperties({ ...row, changedProperties: versions })
  const renews = change.restart && needing.length > 0
  if (changed.length === 0 && !renews) return { row, changed, isTold: false }
  await refuseBeyondQuotas(db, user, { row, before, after })
  if (renews) await refuseWithoutMemory(db, row, { before, after })
  const isTold = renews || changed.some((name) => name !== 'tags')
  const { policy, cooldownMs, stateful } = after.scaleToZero
  const mayHaveVm = row.state !== InstanceState.Stopped
  const written = await db
    .updateTable('instances')
    .set({
      image: after.image,
      args: after.args === null ? null : json(after.args),
      ...(changed.includes('env') && { envSealed: sealEnv(box, row.uuid, after.env) }),
      memoryMb: after.memoryMb,
      vcpus: after.vcpus,
      restartPolicy: after.restartPolicy,
      deleteOnStop: after.deleteOnStop,
      standbyPolicy: policy,
      standbyCooldownMs: cooldownMs,
      standbyStateful: stateful,
      tags: json(after.tags),
      ...(mayHaveVm && {
        heldMemoryMb: Math.max(row.heldMemoryMb, before.memoryMb),
        heldVcpus: Math.max(row.heldVcpus, before.vcpus),
      }),
      ...(isTold && { configVersion: version, changedProperties: json(launchVersions(versions)) }),
      ...(renews && { renewBelow: version, renewDrainMs: change.drainMs }),
    })
    .where('uuid', '=', row.uuid)
    .returning(instanceColumns)
    .executeTakeFirstOrThrow()
  await tellChanged(db, { row, before, after, renews, needing, asker: change.asker })
  return { row: written, changed, isTold }
}

async function lockRow(db: Db, { userUuid, uuid }: InstanceChange) {
  return db
    .selectFrom('instances')
    .select([...instanceColumns, 'heldMemoryMb', 'heldVcpus'])
    .select((eb) => isLive(eb).as('live'))
    .where('uuid', '=', uuid)
    .where('userUuid', '=', userUuid)
    .where('deletedAt', 'is', null)
    .forUpdate()
    .executeTakeFirst()
}

export function configurationOf(box: SecretBox, row: InstanceRow): InstanceConfiguration {
  const { image, args, memoryMb, vcpus, restartPolicy, deleteOnStop, tags } = row
  const scaleToZero = scaleToZeroOf(row)
  const env = openEnv(box, row)
  return { image, args, env, memoryMb, vcpus, restartPolicy, deleteOnStop, scaleToZero, tags }
}

/** Only changes of what a boot is launched with have to be remembered. */
function launchVersions(versions: Readonly<Record<string, number>>): Record<string, number> {
  const known: readonly string[] = launchProperties
  return Object.fromEntries(Object.entries(versions).filter(([name]) => known.includes(name)))
}

interface Pair {
  readonly before: InstanceConfiguration
  readonly after: InstanceConfiguration
}

async function refuseBeyondQuotas(
  db: Db,
  user: Row<'users'>,
  { row, before, after }: Pair & { readonly row: { readonly live: unknown } },
): Promise<void> {
  const quotas = await quotasOf(db, user)
  const isOther = before.memoryMb !== after.memoryMb || before.vcpus !== after.vcpus
  const breach = isOther ? findLimitBreach(quotas.limits, after) : undefined
  if (breach) throw new Refused({ kind: 'limit', breach })
  if (row.live === true) refuseExcess(quotas, growth(liveDemand(before, 1), liveDemand(after, 1)))
}

function growth(before: Partial<QuotaAmounts>, after: Partial<QuotaAmounts>): Partial<QuotaAmounts> {
  const names = Object.keys(after) as (keyof QuotaAmounts)[]
  return Object.fromEntries(names.map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]))
}

/**
 * Refuses a restart for more memory while the old boot still runs, if the host could not start the new one.
 */
async function refuseWithoutMemory(db: Db, row: InstanceRow, { before, after }: Pair): Promise<void> {
  const moreMb = footprintMb(after.memoryMb) - footprintMb(before.memoryMb)
  if (moreMb <= 0 || row.state === InstanceState.Standby) return
  const roomMb = Math.max(0, (await readMemoryRoom(db, [row.nodeId])).get(row.nodeId) ?? 0)
  if (roomMb < moreMb) throw new Refused({ kind: 'no-more-memory', name: row.name, moreMb, roomMb })
}

async function tellChanged(
  db: Db,
  of: Pair & {
    readonly row: InstanceRow
    readonly renews: boolean
    readonly needing: readonly string[]
    readonly asker: Asker | undefined
  },
): Promise<void> {
  const { row, before, after, renews, needing, asker = thePlatform } = of
  const changes = changesInWords(before, after)
  const what =
    changes.length === 0 ? 'a restart was asked for' : `a change was asked for: ${changes.join('; ')}`
  await writeEvents(db, [
    {
      ...eventObject(row),
      kind: UserEventKind.InstanceChanged,
      why: `${what}${effectOf({ row, renews, needing })}`,
      asker,
      facts: changeFacts(before, after),
    },
  ])
}

function effectOf(of: {
  readonly row: InstanceRow
  readonly renews: boolean
  readonly needing: readonly string[]
}): string {
  const { row, renews, needing } = of
  if (needing.length === 0) return ''
  const names = needing.join(', ')
  if (!renews) return `; it needs a restart for ${names}`
  return keepsMemory(row) ? '; its kept memory is dropped' : `; it restarts for ${names}`
}
