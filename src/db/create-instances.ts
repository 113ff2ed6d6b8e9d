import { randomInt, randomUUID } from 'node:crypto'
import { LockMode } from '@mikro-orm/postgresql'
import type { EntityManager } from '@mikro-orm/postgresql'
import { InstanceState } from '../domain/instance-state.ts'
import { generatedInstanceName, nameSuffixLength, replicaName } from '../domain/object-name.ts'
import { macAddress } from '../domain/private-address.ts'
import { findLimitBreach, findQuotaExcess, liveDemand } from '../domain/quotas.ts'
import type { LimitBreach, QuotaExcess } from '../domain/quotas.ts'
import type { RestartPolicy } from '../domain/restart-policy.ts'
import type { Database } from './database.ts'
import { Instance } from './entities/instance.ts'
import { User } from './entities/user.ts'
import type { UserEntity } from './entities/user.ts'
import { sealEnv } from './instance-row.ts'
import type { InstanceRow } from './instance-row.ts'
import { findByUuids } from './instances.ts'
import { placeInstances } from './placement.ts'
import type { Place } from './placement.ts'
import { quotaReport, usedQuotasSql } from './quotas.ts'
import type { UsedByInstances } from './quotas.ts'
import type { SecretBox } from './secret-box.ts'

/** An instance and its replicas as they are asked for: defaults resolved, the name parsed, the image pinned. */
export interface NewInstances {
  readonly userUuid: string
  /** Absent: generated from the image's. */
  readonly name?: string
  /** `<repository>@sha256:<hex>` with the repository as the registry knows it. */
  readonly image: string
  readonly memoryMb: number
  readonly vcpus: number
  readonly args?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly restartPolicy: RestartPolicy
  readonly deleteOnStop: boolean
  readonly autostart: boolean
  /** Additional instances. */
  readonly replicas: number
}

export type CreateRefusal =
  | { readonly kind: 'limit'; readonly breach: LimitBreach }
  | { readonly kind: 'quota'; readonly excess: QuotaExcess }
  | { readonly kind: 'name-taken'; readonly name: string }
  /** No host has been heard of lately. */
  | { readonly kind: 'no-node' }
  /** Every private address of the host is taken. */
  | { readonly kind: 'no-address' }
  /** The account was removed meanwhile. */
  | { readonly kind: 'no-user' }

export type CreateInstancesOutcome =
  | { readonly ok: true; readonly instances: readonly InstanceRow[] }
  | { readonly ok: false; readonly refusal: CreateRefusal }

export interface CreateInstancesDeps {
  readonly database: Database
  readonly secretBox: SecretBox
  /** Lower-case letters and digits; tests make it collide. */
  readonly randomSuffix?: (length: number) => string
}

/** Of 36^5 suffixes, ten taken ones in a row mean that something else is wrong. */
const maxNameAttempts = 10
const suffixAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'

/**
 * Writes the rows of an instance and its replicas, all or none, in one transaction under the lock of the user's row:
 * creates and starts of one user pass it one by one, so parallel ones can not pass a limit. Answers the rows in the
 * order in which they were named, the first without suffix. Their workflows are not started.
 */
export async function createInstances(
  deps: CreateInstancesDeps,
  wanted: NewInstances,
): Promise<CreateInstancesOutcome> {
  const written = await deps.database.em().transactional((em) => insertInstances(em, deps, wanted))
  if ('kind' in written) return { ok: false, refusal: written }
  return { ok: true, instances: await findByUuids(deps.database, written.uuids) }
}

type Written = { readonly uuids: readonly string[] }

async function insertInstances(
  em: EntityManager,
  deps: CreateInstancesDeps,
  wanted: NewInstances,
): Promise<Written | CreateRefusal> {
  const user = await em.findOne(User, { uuid: wanted.userUuid }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (!user) return { kind: 'no-user' }
  const refusal = await checkQuotas(em, user, wanted)
  if (refusal) return refusal
  const names = await chooseNames(em, wanted, deps.randomSuffix ?? randomSuffix)
  if (!Array.isArray(names)) return names
  const places = await placeInstances(em, { count: names.length, memoryMb: wanted.memoryMb })
  if (!places.ok) return { kind: places.refusal }
  const rows = names.map((name, index) =>
    newRow(deps.secretBox, wanted, { name, place: places.places[index]! }),
  )
  await em.insertMany(Instance, rows)
  return { uuids: rows.map((row) => row.uuid) }
}

async function checkQuotas(
  em: EntityManager,
  user: UserEntity,
  wanted: NewInstances,
): Promise<CreateRefusal | undefined> {
  const [used] = await em.execute<UsedByInstances[]>(usedQuotasSql, [user.uuid])
  const quotas = quotaReport(user, used)
  const breach = findLimitBreach(quotas.limits, wanted)
  if (breach) return { kind: 'limit', breach }
  const count = wanted.replicas + 1
  const live = wanted.autostart ? liveDemand(wanted, count) : {}
  const excess = findQuotaExcess(quotas, { instances: count, ...live })
  return excess && { kind: 'quota', excess }
}

/** The user's row is locked, so a name that is free here stays free until the commit. */
async function chooseNames(
  em: EntityManager,
  wanted: NewInstances,
  suffix: (length: number) => string,
): Promise<string[] | CreateRefusal> {
  const names = new Set(wanted.name === undefined ? [] : [wanted.name])
  for (let attempt = 0; attempt < maxNameAttempts; attempt++) {
    const missing = wanted.replicas + 1 - names.size
    for (let index = 0; index < missing; index++) names.add(proposeName(wanted, suffix(nameSuffixLength)))
    const taken = await takenNames(em, wanted.userUuid, [...names])
    if (wanted.name !== undefined && taken.includes(wanted.name))
      return { kind: 'name-taken', name: wanted.name }
    for (const name of taken) names.delete(name)
    if (names.size === wanted.replicas + 1) return [...names]
  }
  return { kind: 'name-taken', name: proposeName(wanted, suffix(nameSuffixLength)) }
}

async function takenNames(
  em: EntityManager,
  userUuid: string,
  names: readonly string[],
): Promise<readonly string[]> {
  const marks = names.map(() => '?').join(', ')
  const rows = await em.execute<{ name: string }[]>(
    `select name from instances where user_uuid = ? and deleted_at is null and name in (${marks})`,
    [userUuid, ...names],
  )
  return rows.map((row) => row.name)
}

function proposeName(wanted: NewInstances, suffix: string): string {
  if (wanted.name !== undefined) return replicaName(wanted.name, suffix)
  return generatedInstanceName(wanted.image.split('@', 1)[0] ?? '', suffix)
}

function randomSuffix(length: number): string {
  return Array.from({ length }, () => suffixAlphabet[randomInt(suffixAlphabet.length)]).join('')
}

function newRow(box: SecretBox, wanted: NewInstances, own: { name: string; place: Place }) {
  const uuid = randomUUID()
  return {
    uuid,
    user: wanted.userUuid,
    node: own.place.nodeId,
    name: own.name,
    image: wanted.image,
    memoryMb: wanted.memoryMb,
    vcpus: wanted.vcpus,
    args: wanted.args ?? null,
    envSealed: sealEnv(box, uuid, wanted.env),
    autostart: wanted.autostart,
    deleteOnStop: wanted.deleteOnStop,
    restartPolicy: wanted.restartPolicy,
    networkUuid: randomUUID(),
    privateIp: own.place.privateIp,
    mac: macAddress(own.place.privateIp),
    // Until the workflow's first record, the row says what it is about to say.
    state: wanted.autostart ? InstanceState.Starting : InstanceState.Stopped,
  }
}
