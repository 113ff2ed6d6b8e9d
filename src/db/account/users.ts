import { randomUUID } from 'node:crypto'
import { AskerKind } from '../../domain/event/asker.ts'
import type { News } from '../../domain/event/news.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { officialNamespace } from '../../domain/image/reference.ts'
import { maxLabelLength, parseObjectName } from '../../domain/object-name.ts'
import { defaultHardQuotas, defaultQuotaLimits } from '../../domain/account/quotas.ts'
import type { QuotaAmounts, QuotaLimits } from '../../domain/account/quotas.ts'
import type { Database } from '../database.ts'
import { eventObject, insertNewsOfChanged, writeEvents } from '../event/write.ts'
import { columnsOf } from '../schema/columns.ts'
import type { Row } from '../schema/tables.ts'

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
}

export type CreateUserOutcome =
  | { readonly ok: true; readonly user: UserRecord }
  | { readonly ok: false; readonly refusal: 'invalid-name' | 'name-taken' }

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
  const name = parseUserName(wanted.name)
  if (name === undefined) return { ok: false, refusal: 'invalid-name' }
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
          ...defaultQuotaLimits,
          ...wanted.limits,
        })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .returning([...userColumns, 'uuid as userUuid']),
    )
    .with('told', (db) => insertNewsOfChanged(db, [created]))
    .selectFrom('changed')
    .select(userColumns)
    .executeTakeFirst()
  return user ? { ok: true, user: userRecord(user) } : { ok: false, refusal: 'name-taken' }
}

const created: News = {
  kind: UserEventKind.AccountCreated,
  why: 'an operator created the account',
  asker: { by: AskerKind.Operator },
}

export async function findUser({ db }: Database, name: string): Promise<UserRecord | undefined> {
  const user = await db.selectFrom('users').select(userColumns).where('name', '=', name).executeTakeFirst()
  return user && userRecord(user)
}

export async function listUsers({ db }: Database): Promise<readonly UserRecord[]> {
  const users = await db.selectFrom('users').select(userColumns).orderBy('name').execute()
  return users.map(userRecord)
}

/**
 * Changes the given quotas and limits and returns the user; undefined if there is no such user. Objects that
 * are beyond a lowered quota stay.
 */
export async function setQuotas(
  { db }: Database,
  name: string,
  quotas: { readonly hard?: Partial<QuotaAmounts>; readonly limits?: Partial<QuotaLimits> },
): Promise<UserRecord | undefined> {
  return db.transaction().execute(async (db) => {
    const user = await db
      .selectFrom('users')
      .select(userColumns)
      .where('name', '=', name)
      .forUpdate()
      .executeTakeFirst()
    if (!user) return undefined
    const changed = { ...hardColumns({ ...hardQuotasOf(user), ...quotas.hard }), ...quotas.limits }
    await db.updateTable('users').set(changed).where('uuid', '=', user.uuid).execute()
    const facts = { ...quotas.hard, ...quotas.limits }
    const why = `an operator changed ${Object.keys(facts).join(', ')}`
    const asker = { by: AskerKind.Operator }
    const object = eventObject({ ...user, userUuid: user.uuid })
    await writeEvents(db, [{ ...object, kind: UserEventKind.AccountQuotas, why, asker, facts }])
    return userRecord({ ...user, ...changed })
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
