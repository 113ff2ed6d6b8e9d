import type { EntityManager } from '@mikro-orm/postgresql'
import { nameSuffixLength, replicaName } from '../../domain/object-name.ts'
import { findLimitBreach, liveDemand } from '../../domain/account/quotas.ts'
import { Instance } from '../schema/instance.ts'
import type { UserEntity } from '../schema/user.ts'
import { instanceColumns, openEnv, scaleToZeroOf } from '../instance/row.ts'
import type { InstanceRow } from '../instance/row.ts'
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
 * Writes the row of one more instance of the service that is as its master: what runs in it, with a copy of
 * the environment that is sealed for it alone, the size, the restart policy, when it sleeps; not the name,
 * the address, and what became of it. The user, the service and its configuration are locked. Where it is
 * refused, for people and without secrets, nothing was written.
 */
export async function insertClone(
  em: EntityManager,
  writer: CloneWriter,
  made: { readonly user: UserEntity; readonly serviceUuid: string; readonly masterUuid: string },
): Promise<InsertedClone> {
  // No moment of this row is looked at: within a transaction they are no `Date`.
  const [master] = await em.execute<InstanceRow[]>(
    `select ${instanceColumns} from instances
     where uuid = ? and user_uuid = ? and service_uuid = ? and deleted_at is null`,
    [made.masterUuid, made.user.uuid, made.serviceUuid],
  )
  if (master === undefined) return 'no-master'
  try {
    return await insertLike(em, writer, { user: made.user, master })
  } catch (error) {
    if (error instanceof Refused) return { refusal: refusalWords(error.refusal) }
    throw error
  }
}

async function insertLike(
  em: EntityManager,
  { secretBox, randomSuffix }: CloneWriter,
  { user, master }: { readonly user: UserEntity; readonly master: InstanceRow },
): Promise<InsertedClone> {
  const wanted = copyOf(secretBox, master)
  await checkQuotas(em, user, wanted)
  const [name] = await chooseNames(em, {
    userUuid: user.uuid,
    count: 1,
    propose: () => replicaName(master.name, randomSuffix(nameSuffixLength)),
  })
  const placement = await placeWithRoom(em, master.memoryMb)
  if ('roomiestMb' in placement) {
    const { neededMb, roomiestMb } = placement
    return {
      refusal: `no host has room: one more takes ${neededMb} MiB and a private address, and the host with most memory left has ${roomiestMb} MiB`,
    }
  }
  const own = { name: name!, service: master.serviceUuid, placement, volume: null, cloneOf: master.uuid }
  const row = newInstanceRow(secretBox, wanted, own)
  await em.insertMany(Instance, [row])
  return { uuid: row.uuid, name: row.name }
}

function copyOf(box: SecretBox, master: InstanceRow): NewInstances {
  const { userUuid, image, memoryMb, vcpus, args, restartPolicy } = master
  return {
    userUuid,
    image,
    memoryMb,
    vcpus,
    ...(args !== null && { args }),
    env: openEnv(box, master),
    restartPolicy,
    // One that stops is given back anyway. Were it gone by itself, nothing would tell that it failed, and the
    // next come without a pause.
    deleteOnStop: false,
    autostart: true,
    replicas: 0,
    scaleToZero: scaleToZeroOf(master),
  }
}

async function checkQuotas(em: EntityManager, user: UserEntity, wanted: NewInstances): Promise<void> {
  const quotas = await quotasOf(em, user)
  const breach = findLimitBreach(quotas.limits, wanted)
  if (breach) throw new Refused({ kind: 'limit', breach })
  await refuseExcess(em, quotas, { instances: 1, ...liveDemand(wanted, 1) })
}

/** Why no clone was made, or no master started. */
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
  if (refusal.kind === 'name-taken') return `no name such as '${refusal.name}' is free`
  return `refused: ${refusal.kind}`
}

/** As the API calls it. */
function fieldName(quota: string): string {
  return quota.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
