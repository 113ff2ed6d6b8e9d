import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { isCertified } from '../../domain/host/role.ts'
import type { HostRole, RoleKeys } from '../../domain/host/role.ts'
import type { Database } from '../database.ts'
import { takeLock } from '../locks.ts'
import { json } from '../postgres-client.ts'
import type { Db } from '../schema/tables.ts'
import { fromNow, now } from '../sql/time.ts'
import { releasedSecret } from './hosts.ts'

/** How long an invitation waits for its machine. */
export const invitationMs = 3_600_000
/** The lock under which invitations choose ids. The number has no other meaning. */
const invitationLock = 7_070_003
/** The first further host of an installation is `h2`, because the installation's own machine is the first. */
const firstNumber = 2

export interface Invitation {
  readonly hostId: string
  readonly expiresAt: Date
}

/**
 * Invites one machine. It gets the id `hostId`, or else the first of `h2`, `h3` and so on that is free.
 * Returns undefined if the id belongs to a host or to another invitation.
 */
export async function inviteHost(
  { db }: Database,
  wanted: {
    readonly hostId: string | undefined
    readonly secret: string
    readonly roles?: readonly HostRole[]
  },
): Promise<Invitation | undefined> {
  const { secret, roles = [] } = wanted
  return await db.transaction().execute(async (db) => {
    await takeLock(db, invitationLock)
    await db.deleteFrom('hostInvitations').where('expiresAt', '<=', now).execute()
    const taken = await takenIds(db)
    const hostId = wanted.hostId ?? freeId(taken)
    if (taken.has(hostId)) return undefined
    return await db
      .insertInto('hostInvitations')
      .values({ secretSha256: sha256(secret), hostId, roles: json(roles), expiresAt: fromNow(invitationMs) })
      .returning(['hostId', 'expiresAt'])
      .executeTakeFirstOrThrow()
  })
}

/** An invitation that waits for its machine. */
export interface OpenInvitation extends Invitation {
  readonly roles: readonly HostRole[]
  readonly createdAt: Date
}

/** The invitations that a machine can still join with, in the order in which they were made. */
export async function openInvitations({ db }: Database): Promise<readonly OpenInvitation[]> {
  return await db
    .selectFrom('hostInvitations')
    .select(['hostId', 'roles', 'createdAt', 'expiresAt'])
    .where('usedAt', 'is', null)
    .where('expiresAt', '>', now)
    .orderBy('createdAt')
    .orderBy('hostId')
    .execute()
}

/**
 * Takes an open invitation back: no machine can join with it any more. Returns false if there is none for
 * this id. A host that has joined stays.
 */
export async function takeInvitationBack({ db }: Database, hostId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('hostInvitations')
    .where('hostId', '=', hostId)
    .where('usedAt', 'is', null)
    .where('expiresAt', '>', now)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** The ids that no further machine may get. A released id waits for a machine, so it is free. */
async function takenIds(db: Db): Promise<ReadonlySet<string>> {
  const nodes = await db.selectFrom('nodes').select('id').where('agentSecret', '<>', releasedSecret).execute()
  const invited = await db
    .selectFrom('hostInvitations')
    .select('hostId as id')
    .where('usedAt', 'is', null)
    .execute()
  const joined = await db
    .selectFrom('joinedHosts')
    .leftJoin('nodes', 'nodes.id', 'joinedHosts.hostId')
    .select('joinedHosts.hostId as id')
    .where((eb) => eb.or([eb('nodes.id', 'is', null), eb('nodes.agentSecret', '<>', releasedSecret)]))
    .execute()
  return new Set([...nodes, ...invited, ...joined].map(({ id }) => id))
}

function freeId(taken: ReadonlySet<string>): string {
  let number = firstNumber
  while (taken.has(`h${number}`)) number++
  return `h${number}`
}

export type Admission =
  | { readonly ok: true; readonly hostId: string; readonly roles: readonly HostRole[] }
  | { readonly ok: false; readonly refusal: 'unknown' | 'expired' | 'used' | 'no-key' }

/** The hashes of the public keys of a machine: that of its agent, and those of the parts of its roles. */
export interface MachineKeys {
  readonly keySha256: string
  readonly roleKeys: RoleKeys
}

/**
 * Admits the machine with these keys. A secret admits one machine, which may ask again with the same keys,
 * because it may not have received the answer. Of the keys of roles, those of its own roles are kept.
 */
export async function admitHost(
  { db }: Database,
  asked: Pick<MachineKeys, 'keySha256'> & Partial<MachineKeys> & { readonly secret: string },
): Promise<Admission> {
  const { keySha256 } = asked
  return await db.transaction().execute(async (db): Promise<Admission> => {
    const found = await db
      .selectFrom('hostInvitations')
      .select((eb) => [
        'secretSha256',
        'hostId',
        'roles',
        'usedByKey',
        eb('expiresAt', '<=', now).as('expired'),
      ])
      .where('secretSha256', '=', sha256(asked.secret))
      .forUpdate()
      .executeTakeFirst()
    if (found === undefined) return { ok: false, refusal: 'unknown' }
    if (found.expired) return { ok: false, refusal: 'expired' }
    const { hostId, roles, secretSha256, usedByKey } = found
    const roleKeys = keysOf(roles, asked.roleKeys ?? {})
    if (roles.some((role) => isCertified(role) && roleKeys[role] === undefined))
      return { ok: false, refusal: 'no-key' }
    if (usedByKey !== null) {
      const isSame = await hasKeys(db, hostId, { keySha256, roleKeys })
      return isSame ? { ok: true, hostId, roles } : { ok: false, refusal: 'used' }
    }
    await db
      .updateTable('hostInvitations')
      .set({ usedAt: now, usedByKey: keySha256 })
      .where('secretSha256', '=', secretSha256)
      .execute()
    await db
      .insertInto('joinedHosts')
      .values({ hostId, keySha256, roles: json(roles), roleKeys: json(roleKeys) })
      .onConflict((conflict) =>
        conflict
          .column('hostId')
          .doUpdateSet({ keySha256, roles: json(roles), roleKeys: json(roleKeys), joinedAt: now }),
      )
      .execute()
    return { ok: true, hostId, roles }
  })
}

function keysOf(roles: readonly HostRole[], keys: RoleKeys): RoleKeys {
  const known = roles.filter(isCertified).map((role) => [role, keys[role]])
  return Object.fromEntries(known.filter(([, key]) => key !== undefined)) as RoleKeys
}

/** Whether the host has joined with these keys, and has them still. */
async function hasKeys(db: Db, hostId: string, keys: MachineKeys): Promise<boolean> {
  const found = await db
    .selectFrom('joinedHosts')
    .select(['keySha256', 'roleKeys'])
    .where('hostId', '=', hostId)
    .executeTakeFirst()
  return found !== undefined && isDeepStrictEqual({ ...found }, { ...keys })
}

/** A machine that joined, as it is known by its certificates. */
export interface JoinedMachine extends MachineKeys {
  readonly roles: readonly HostRole[]
}

/** Each machine that joined and was not removed, by host. */
export async function joinedMachines({ db }: Database): Promise<ReadonlyMap<string, JoinedMachine>> {
  const rows = await db
    .selectFrom('joinedHosts')
    .select(['hostId', 'keySha256', 'roles', 'roleKeys'])
    .execute()
  return new Map(rows.map(({ hostId, ...machine }) => [hostId, machine]))
}

/** A part that a role added to a machine that joined, and was heard of. */
export interface JoinedPart {
  readonly part: HostRole
  readonly hostId: string
  /** Where the agent of its machine is. */
  readonly agentUrl: string
  /** The hash of its own public key. Absent: it issues its certificates itself. */
  readonly keySha256?: string
}

/** All parts that roles added to machines that joined, in the order in which they did. */
export async function joinedParts({ db }: Database): Promise<readonly JoinedPart[]> {
  const rows = await db
    .selectFrom('joinedHosts')
    .innerJoin('nodes', 'nodes.id', 'joinedHosts.hostId')
    .select(['hostId', 'agentUrl', 'roles', 'roleKeys'])
    .orderBy('joinedAt')
    .orderBy('hostId')
    .execute()
  return rows.flatMap(({ roles, roleKeys, ...place }) =>
    roles.map((part) => {
      const keySha256 = isCertified(part) ? roleKeys[part] : undefined
      return { part, ...place, ...(keySha256 !== undefined && { keySha256 }) }
    }),
  )
}

/** The ids of machines that are invited, or joined and were never heard of. They are not among the hosts. */
export async function awaitedHosts({ db }: Database): Promise<ReadonlySet<string>> {
  const invited = await db
    .selectFrom('hostInvitations')
    .select('hostId as id')
    .where('usedAt', 'is', null)
    .execute()
  const joined = await db.selectFrom('joinedHosts').select('hostId as id').execute()
  const known = new Set((await db.selectFrom('nodes').select('id').execute()).map(({ id }) => id))
  return new Set([...invited, ...joined].flatMap(({ id }) => (known.has(id) ? [] : [id])))
}

export type Removal =
  { readonly ok: true } | { readonly ok: false; readonly refusal: 'has-instances' | 'has-volumes' }

/**
 * Locks out a host that joined, and forgets it and its invitations. Refused while it has instances or
 * volumes, because nobody else has them.
 */
export async function removeJoinedHost({ db }: Database, hostId: string): Promise<Removal> {
  return await db.transaction().execute(async (db): Promise<Removal> => {
    // The first lock keeps heartbeats from making the host known again meanwhile, the second one keeps
    // placements from choosing it.
    await db.selectFrom('joinedHosts').select('hostId').where('hostId', '=', hostId).forUpdate().execute()
    await db.selectFrom('nodes').select('id').where('id', '=', hostId).forUpdate().execute()
    const has = async (table: 'instances' | 'volumes') =>
      (await db.selectFrom(table).select('uuid').where('nodeId', '=', hostId).limit(1).executeTakeFirst()) !==
      undefined
    if (await has('instances')) return { ok: false, refusal: 'has-instances' }
    if (await has('volumes')) return { ok: false, refusal: 'has-volumes' }
    await db.deleteFrom('joinedHosts').where('hostId', '=', hostId).execute()
    await db.deleteFrom('hostInvitations').where('hostId', '=', hostId).execute()
    await db.deleteFrom('nodes').where('id', '=', hostId).execute()
    return { ok: true }
  })
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
