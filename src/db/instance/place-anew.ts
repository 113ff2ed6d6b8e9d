import { macAddress } from '../../domain/host/private-address.ts'
import type { PlacementReason } from '../../domain/host/placement.ts'
import { isDown } from '../../domain/instance/state.ts'
import { findLockedUser } from '../account/user-lock.ts'
import type { Database } from '../database.ts'
import { json } from '../postgres-client.ts'
import { orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { Db } from '../schema/tables.ts'
import { placeInstances } from './placement.ts'

/** An instance whose host is lost. */
export interface LostInstance {
  readonly instanceUuid: string
  /** The lost host. */
  readonly lostNodeId: string
}

/**
 * Places an instance anew, because its host is lost, and returns its host. It gets a private address there. A
 * repeat returns what the first call chose. An instance with a volume stays where that is. It also stays if
 * the host has come back and cleared up meanwhile: nothing of the instance runs there any more. Undefined:
 * the instance does not exist any more.
 */
export async function placeAnew(
  { db }: Database,
  lost: LostInstance,
): Promise<
  | { readonly ok: true; readonly value: string | undefined }
  | { readonly ok: false; readonly refusal: WriteRefusal }
> {
  return await orRefusal(() => db.transaction().execute(async (db) => await placeLocked(db, lost)))
}

async function placeLocked(db: Db, { instanceUuid, lostNodeId }: LostInstance): Promise<string | undefined> {
  const owner = await db
    .selectFrom('instances')
    .select('userUuid')
    .where('uuid', '=', instanceUuid)
    .executeTakeFirst()
  // The user's lock comes before all others. A volume is attached under it, too.
  if (owner === undefined || (await findLockedUser(db, owner.userUuid)) === undefined) return undefined
  const row = await db
    .selectFrom('instances')
    .select(['nodeId', 'volumeUuid', 'memoryMb', 'vcpus', 'serviceUuid', 'rolloutUuid', 'state', 'deletedAt'])
    .where('uuid', '=', instanceUuid)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { nodeId, volumeUuid, memoryMb, vcpus, serviceUuid, rolloutUuid, state, deletedAt } = row
  if (nodeId !== lostNodeId || volumeUuid !== null || deletedAt !== null) return nodeId
  if (!(await isLost(db, nodeId))) return nodeId
  const [placement] = await placeInstances(db, {
    count: 1,
    memoryMb,
    vcpus,
    starting: !isDown(state),
    ...(serviceUuid !== null && { group: { serviceUuid, rolloutUuid } }),
  })
  const { privateIp, nodeId: chosen } = placement!
  const reason: PlacementReason = { kind: 'lost', nodeId: lostNodeId }
  await db
    .updateTable('instances')
    .set({ nodeId: chosen, privateIp, seatIp: null, mac: macAddress(privateIp), placement: json(reason) })
    .where('uuid', '=', instanceUuid)
    .execute()
  return chosen
}

/** The row is held until the commit, so that the host does not come back before it. */
async function isLost(db: Db, nodeId: string): Promise<boolean> {
  const node = db.selectFrom('nodes').select('lostAt').where('id', '=', nodeId)
  return (await node.forShare().executeTakeFirst())?.lostAt !== null
}
