import { randomUUID } from 'node:crypto'
import { AskerKind, theOperator } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import type { News } from '../../domain/event/news.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { officialNamespace } from '../../domain/image/reference.ts'
import { maxLabelLength, parseObjectName } from '../../domain/object-name.ts'
import { defaultHardQuotas, defaultQuotaLimits, findCrossedLimits } from '../../domain/account/quotas.ts'
import type { CrossedLimits, QuotaAmounts, QuotaLimits } from '../../domain/account/quotas.ts'
import type { Database } from '../database.ts'
import { eventObject, insertNewsOfChanged, writeEvents } from '../event/write.ts'
import { columnsOf } from '../schema/columns.ts'
import type { Db, Row } from '../schema/tables.ts'

export interface UserRecord {
  readonly uuid: string
  readonly name: string
  /** An administrator may push `official/...` to the registry. */
  readonly admin: boolean
  readonly createdAt: Date
  readonly hard: QuotaAmounts
  readonly limits: QuotaLimits
  /** The size of the user's images in the registry. */
  readonly registryBytes: number
}

export interface NewUser {
  readonly name: string
  readonly admin?: boolean
  readonly hard?: Partial<QuotaAmounts>
  readonly limits?: Partial<QuotaLimits>
  /** Who makes the account. Absent: an operator. */
  readonly asker?: Asker
}

export type UserRefusal =
  { readonly kind: 'invalid-name' | 'name-taken' } | ({ readonly kind: 'crossed-limits' } & CrossedLimits)

export type CreateUserOutcome =
  { readonly ok: true; readonly user: UserRecord } | { readonly ok: false; readonly refusal: UserRefusal }

/**
 * Reads the name of a user. It is a single label, without dots, because it is the namespace of the user's
 * images and stands before the colon of a token. Undefined if the text can not be a user's name.
 */
export function parseUserName(text: string): string | undefined {
  const name = parseObjectName(text)
  if (name === undefined || name.includes('.') || name.length > maxLabelLength) return undefined
  return name === officialNamespace ? undefined : name
}

const userColumns = columnsOf('users')

export async function createUser({ db }: Database, wanted: NewUser): Promise<CreateUserOutcome> {
  return insertUser(db, wanted)
}

/** Creates a user, maybe in the caller's transaction. If it is refused, nothing was written. */
export async function insertUser(db: Db, wanted: NewUser): Promise<CreateUserOutcome> {
  const name = parseUserName(wanted.name)
  if (name === undefined) return { ok: false, refusal: { kind: 'invalid-name' } }
  const limits = { ...defaultQuotaLimits, ...wanted.limits }
  const crossed = findCrossedLimits(limits)
  if (crossed) return { ok: false, refusal: { kind: 'crossed-limits', ...crossed } }
  const uuid = randomUUID()
  const user = await db
    .with('changed', (db) =>
      db
        .insertInto('users')
        .values({
          uuid,
          name,
          admin: wanted.admin ?? false,
          ...hardColumns({ ...defaultHardQuotas, ...wanted.hard }),
          ...limits,
        })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .returning([...userColumns, 'uuid as userUuid']),
    )
    .with('told', (db) => insertNewsOfChanged(db, [createdBy(wanted.asker)]))
    .selectFrom('changed')
    .select(userColumns)
    .executeTakeFirst()
  return user ? { ok: true, user: userRecord(user) } : { ok: false, refusal: { kind: 'name-taken' } }
}

function createdBy(asker: Asker = theOperator): News {
  return { kind: UserEventKind.AccountCreated, why: `${roleOf(asker)} created the account`, asker }
}

/** Whoever changes an account over the API is an administrator; the operator has the command. */
function roleOf({ by }: Asker): string {
  return by === AskerKind.Operator ? 'an operator' : 'an administrator'
}

export async function findUser({ db }: Database, name: string): Promise<UserRecord | undefined> {
  const user = await db.selectFrom('users').select(userColumns).where('name', '=', name).executeTakeFirst()
  return user && userRecord(user)
}

export async function listUsers({ db }: Database): Promise<readonly UserRecord[]> {
  const users = await db.selectFrom('users').select(userColumns).orderBy('name').execute()
  return users.map(userRecord)
}

export interface QuotaChange {
  readonly hard?: Partial<QuotaAmounts>
  readonly limits?: Partial<QuotaLimits>
  /** Who asks for it. Absent: an operator. */
  readonly asker?: Asker
}

export type SetQuotasOutcome =
  | { readonly ok: true; readonly user: UserRecord }
  | {
      readonly ok: false
      readonly refusal: { readonly kind: 'no-user' } | ({ readonly kind: 'crossed-limits' } & CrossedLimits)
    }

/**
 * Changes the given quotas and limits and returns the user. Objects that are beyond a lowered quota stay. If
 * it is refused, nothing was changed.
 */
export async function setQuotas(
  { db }: Database,
  name: string,
  quotas: QuotaChange,
): Promise<SetQuotasOutcome> {
  return db.transaction().execute(async (db) => {
    const user = await db
      .selectFrom('users')
      .select(userColumns)
      .where('name', '=', name)
      .forUpdate()
      .executeTakeFirst()
    if (!user) return { ok: false, refusal: { kind: 'no-user' } }
    const crossed = findCrossedLimits({ ...quotaLimitsOf(user), ...quotas.limits })
    if (crossed) return { ok: false, refusal: { kind: 'crossed-limits', ...crossed } }
    const changed = { ...hardColumns({ ...hardQuotasOf(user), ...quotas.hard }), ...quotas.limits }
    await db.updateTable('users').set(changed).where('uuid', '=', user.uuid).execute()
    const facts = { ...quotas.hard, ...quotas.limits }
    const { asker = theOperator } = quotas
    const why = `${roleOf(asker)} changed ${Object.keys(facts).join(', ')}`
    const object = eventObject({ ...user, userUuid: user.uuid })
    await writeEvents(db, [{ ...object, kind: UserEventKind.AccountQuotas, why, asker, facts }])
    return { ok: true, user: userRecord({ ...user, ...changed }) }
  })
}

export function hardQuotasOf(user: Row<'users'>): QuotaAmounts {
  return {
    instances: user.hardInstances,
    liveInstances: user.hardLiveInstances,
    liveVcpus: user.hardLiveVcpus,
    liveMemoryMb: user.hardLiveMemoryMb,
    serviceGroups: user.hardServiceGroups,
    services: user.hardServices,
    volumes: user.hardVolumes,
    totalVolumeMb: user.hardTotalVolumeMb,
    registryMb: user.hardRegistryMb,
    snapshotMb: user.hardSnapshotMb,
    imageMb: user.hardImageMb,
  }
}

export function quotaLimitsOf(user: Row<'users'>): QuotaLimits {
  return {
    minMemoryMb: user.minMemoryMb,
    maxMemoryMb: user.maxMemoryMb,
    minVcpus: user.minVcpus,
    maxVcpus: user.maxVcpus,
    minVolumeMb: user.minVolumeMb,
    maxVolumeMb: user.maxVolumeMb,
    minAutoscaleSize: user.minAutoscaleSize,
    maxAutoscaleSize: user.maxAutoscaleSize,
  }
}

function hardColumns(hard: QuotaAmounts) {
  return {
    hardInstances: hard.instances,
    hardLiveInstances: hard.liveInstances,
    hardLiveVcpus: hard.liveVcpus,
    hardLiveMemoryMb: hard.liveMemoryMb,
    hardServiceGroups: hard.serviceGroups,
    hardServices: hard.services,
    hardVolumes: hard.volumes,
    hardTotalVolumeMb: hard.totalVolumeMb,
    hardRegistryMb: hard.registryMb,
    hardSnapshotMb: hard.snapshotMb,
    hardImageMb: hard.imageMb,
  }
}

function userRecord(user: Row<'users'>): UserRecord {
  const { uuid, name, admin, createdAt, registryBytes } = user
  return {
    uuid,
    name,
    admin,
    createdAt,
    hard: hardQuotasOf(user),
    limits: quotaLimitsOf(user),
    registryBytes,
  }
}
