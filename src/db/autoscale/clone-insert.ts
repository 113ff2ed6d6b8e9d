import { AskerKind } from '../../domain/event/asker.ts'
import { nameSuffixLength, replicaName } from '../../domain/object-name.ts'
import { findLimitBreach, liveDemand } from '../../domain/account/quotas.ts'
import type { Db, Row } from '../schema/tables.ts'
import { instanceColumns, openEnv, scaleToZeroOf } from '../instance/row.ts'
import type { InstanceRow } from '../instance/row.ts'
import { insertEvents } from '../event/write.ts'
import { createdEvents } from '../instance/created-events.ts'
import { chooseNames, newInstanceRow } from '../instance/new-instances.ts'
import type { NewInstances } from '../instance/new-instances.ts'
import type { StartRefusal } from '../instance/instances.ts'
import { placeWithRoom } from '../instance/placement.ts'
import { quotasOf, refuseExcess } from '../account/quotas.ts'
import type { RandomSuffix } from '../random-suffix.ts'
import { Refused } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { SecretBox } from '../secret-box.ts'

export interface CloneWriter {
  readonly secretBox: SecretBox
  readonly randomSuffix: RandomSuffix
}

export type InsertedClone =
  { readonly uuid: string; readonly name: string } | { readonly refusal: string } | 'no-master'

/**
 * Writes the row of one more clone. The clone takes over the image, arguments, size, restart policy and
 * standby settings of its master, and a copy of the environment that is sealed for the clone alone. It has a
 * name, an address and a life of its own. The caller has locked the user, the service and its configuration.
 * If the clone is refused, nothing was written, and the refusal is a text for people that holds no secrets.
 */
export async function insertClone(
  db: Db,
  writer: CloneWriter,
  made: { readonly user: Row<'users'>; readonly serviceUuid: string; readonly masterUuid: string },
): Promise<InsertedClone> {
  const master = await db
    .selectFrom('instances')
    .select(instanceColumns)
    .where('uuid', '=', made.masterUuid)
    .where('userUuid', '=', made.user.uuid)
    .where('serviceUuid', '=', made.serviceUuid)
    .where('deletedAt', 'is', null)
    .executeTakeFirst()
  if (master === undefined) return 'no-master'
  try {
    return await insertLike(db, writer, { user: made.user, master })
  } catch (error) {
    if (error instanceof Refused) return { refusal: refusalWords(error.refusal) }
    throw error
  }
}

async function insertLike(
  db: Db,
  { secretBox, randomSuffix }: CloneWriter,
  { user, master }: { readonly user: Row<'users'>; readonly master: InstanceRow },
): Promise<InsertedClone> {
  const wanted = copyOf(secretBox, master)
  await checkQuotas(db, user, wanted)
  const [name] = await chooseNames(db, {
    userUuid: user.uuid,
    count: 1,
    propose: () => replicaName(master.name, randomSuffix(nameSuffixLength)),
  })
  const { memoryMb, vcpus, serviceUuid, rolloutUuid } = master
  const group = serviceUuid === null ? undefined : { serviceUuid, rolloutUuid }
  const placement = await placeWithRoom(db, { memoryMb, vcpus, ...(group && { group }) })
  if ('roomiestMb' in placement) {
    const { neededMb, roomiestMb } = placement
    return {
      refusal: `no host has room: one more takes ${neededMb} MiB and a private address, and the host with most memory left has ${roomiestMb} MiB`,
    }
  }
  const own = { name: name!, service: master.serviceUuid, placement, volume: null, cloneOf: master.uuid }
  // A clone of the new version in a rollout is part of that version.
  const row = { ...newInstanceRow(secretBox, wanted, own), rolloutUuid: master.rolloutUuid }
  await db
    .with('told', (db) => insertEvents(db, createdEvents([row], wanted)))
    .insertInto('instances')
    .values([row])
    .execute()
  return { uuid: row.uuid, name: row.name }
}

function copyOf(box: SecretBox, master: InstanceRow): NewInstances {
  const { userUuid, image, memoryMb, vcpus, args, restartPolicy, tags } = master
  return {
    userUuid,
    image,
    memoryMb,
    vcpus,
    ...(args !== null && { args }),
    env: openEnv(box, master),
    restartPolicy,
    tags,
    // Autoscale gives a stopped clone back. If the clone deleted itself, nothing would show that it failed,
    // and the next clone would come without a pause.
    deleteOnStop: false,
    autostart: true,
    replicas: 0,
    scaleToZero: scaleToZeroOf(master),
    asker: { by: AskerKind.Autoscale },
  }
}

async function checkQuotas(db: Db, user: Row<'users'>, wanted: NewInstances): Promise<void> {
  const quotas = await quotasOf(db, user)
  const breach = findLimitBreach(quotas.limits, wanted)
  if (breach) throw new Refused({ kind: 'limit', breach })
  refuseExcess(quotas, { instances: 1, ...liveDemand(wanted, 1) })
}

/** The reason, for people, why no clone was made or a master was not started. */
export function refusalWords(refusal: WriteRefusal | StartRefusal): string {
  if (refusal.kind === 'quota') {
    const { quota, value, bound } = refusal.excess
    return `quota '${fieldName(quota)}' exceeded: ${value} with one more, ${bound} allowed`
  }
  if (refusal.kind === 'deleted-excess') return 'too much that the account deleted is not gone yet'
  if (refusal.kind === 'limit') {
    const { parameter, value, min, max } = refusal.breach
    return `the account allows '${parameter}' from ${min} to ${max}, and the master has ${value}`
  }
  if (refusal.kind === 'no-memory')
    return `its host has no room: it takes ${refusal.lack.neededMb} MiB, and ${refusal.lack.roomMb} MiB are left`
  if (refusal.kind === 'no-node') return 'no host answers: none was heard of lately'
  if (refusal.kind === 'all-cordoned')
    return 'administrators cordoned all hosts that answer: nothing new is placed on them'
  if (refusal.kind === 'name-taken') return `no name such as '${refusal.name}' is free`
  return `refused: ${refusal.kind}`
}

/** The name that the API has for a quota. */
function fieldName(quota: string): string {
  return quota.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
