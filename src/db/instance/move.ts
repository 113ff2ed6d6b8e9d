import { footprintMb } from '../../domain/host/memory-room.ts'
import { chooseHosts } from '../../domain/host/placement.ts'
import type { PlacementReason } from '../../domain/host/placement.ts'
import { hostAddressIndex, isAddressOf, privateAddress } from '../../domain/host/private-address.ts'
import type { MovePlace } from '../../domain/instance/host-work.ts'
import { MoveStep } from '../../domain/instance/lifecycle-state.ts'
import { isDown } from '../../domain/instance/state.ts'
import { findLockedUser } from '../account/user-lock.ts'
import type { Database } from '../database.ts'
import { isLive } from '../host/live.ts'
import { LockSet, takeAll } from '../locks.ts'
import { json } from '../postgres-client.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { Db } from '../schema/tables.ts'
import { measureRoom, readCandidates } from './placement-candidates.ts'
import type { Candidate } from './placement-candidates.ts'
import { takeAddresses } from './placement.ts'
import type { InstanceRow } from './row.ts'

/** Why an instance does not move, in a sentence for people. */
interface NoMove {
  readonly ok: false
  readonly why: string
}

/**
 * Where an instance would move from and to. Both hosts take part in the mesh, the new one takes new instances
 * and has room for its memory if it needs that now. All of this may be different a moment later: `moveRow`
 * looks again.
 */
export async function planMove(
  { db }: Database,
  row: InstanceRow,
  toId: string,
): Promise<{ readonly ok: true; readonly from: MovePlace; readonly to: MovePlace } | NoMove> {
  const no = (why: string): NoMove => ({ ok: false, why })
  if (row.volumeUuid !== null) return no('it has a volume, and volumes do not move')
  const [from, to] = [await readPlace(db, row.nodeId), await readPlace(db, toId)]
  if (to === undefined) return no(`there is no host ${toId}`)
  if (from === undefined) return no(`its host ${row.nodeId} was removed`)
  const silent = [from, to].find(({ live }) => !live)
  if (silent !== undefined) return no(`host ${silent.nodeId} does not answer`)
  if (to.cordonedAt !== null) return no(`host ${toId} takes nothing new, because it is cordoned`)
  const outside = [from, to].find(({ meshKey }) => meshKey === null)
  if (outside !== undefined) return no(`host ${outside.nodeId} takes no part in the mesh`)
  const [host] = await readCandidates(db, [toId], { group: undefined, locked: false })
  const lack = host === undefined ? `host ${toId} takes nothing new` : await whyNoRoom(db, host, row)
  if (lack !== undefined) return no(lack)
  return { ok: true, from: placeOf(from), to: placeOf(to) }
}

const placeOf = ({ nodeId, subnet }: { readonly nodeId: string; readonly subnet: string }): MovePlace => ({
  nodeId,
  address: privateAddress(subnet, hostAddressIndex),
})

async function readPlace(db: Db, id: string) {
  return db
    .selectFrom('nodes')
    .select(['id as nodeId', 'subnet', 'meshKey', 'cordonedAt'])
    .select((eb) => isLive(eb).$castTo<boolean>().as('live'))
    .where('id', '=', id)
    .where('removedAt', 'is', null)
    .executeTakeFirst()
}

type MovedRow = Pick<InstanceRow, 'memoryMb' | 'vcpus' | 'state'>

async function whyNoRoom(
  db: Db,
  host: Candidate,
  { memoryMb, vcpus, state }: MovedRow,
): Promise<string | undefined> {
  const starts = !isDown(state)
  const neededMb = footprintMb(memoryMb)
  const measured = starts ? await measureRoom(db, [host], neededMb) : [host]
  if (chooseHosts(measured, { instance: { memoryMb, vcpus, starts } }, 1).ok) return undefined
  const leftMb = Math.max(0, measured[0]!.roomMb)
  return `it needs ${neededMb} MiB, and host ${host.id} has ${leftMb} MiB of memory left`
}

export interface RowMove {
  readonly instanceUuid: string
  readonly from: string
  readonly to: string
}

/**
 * Makes the new host the host of the instance. The instance keeps its private address, and gets a seat there
 * unless it has come home: its address is of that host's own network. A repeat changes nothing. The value
 * says for people why the row still names the old host; it is undefined if the row names the new one.
 */
export async function moveRow(
  { db }: Database,
  move: RowMove,
): Promise<
  | { readonly ok: true; readonly value: string | undefined }
  | { readonly ok: false; readonly refusal: WriteRefusal }
> {
  return await orRefusal(() => db.transaction().execute(async (db) => await moveLocked(db, move)))
}

async function moveLocked(db: Db, { instanceUuid, from, to }: RowMove): Promise<string | undefined> {
  const owner = await db
    .selectFrom('instances')
    .select('userUuid')
    .where('uuid', '=', instanceUuid)
    .executeTakeFirst()
  // The user's lock comes before all others. A volume is attached under it, too.
  if (owner === undefined || (await findLockedUser(db, owner.userUuid)) === undefined) return 'it is deleted'
  const row = await db
    .selectFrom('instances')
    .select(['nodeId', 'volumeUuid', 'memoryMb', 'vcpus', 'state', 'deletedAt', 'privateIp', 'move'])
    .where('uuid', '=', instanceUuid)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) return 'it is deleted'
  if (row.nodeId === to) return undefined
  if (row.deletedAt !== null) return 'it is deleted'
  if (row.nodeId !== from) return `it is on host ${row.nodeId} by now`
  requireUnderWay(row.move, to)
  if (row.volumeUuid !== null) return 'it has a volume by now, and volumes do not move'
  await takeAll(db, LockSet.Placements, [to])
  // Only a host that is live and not cordoned is among the candidates.
  const [host] = await readCandidates(db, [to], { group: undefined, locked: true })
  if (host === undefined) return `host ${to} takes nothing new any more`
  const lack = await whyNoRoom(db, host, row)
  if (lack !== undefined) return lack
  const reason: PlacementReason = { kind: 'moved', nodeId: from }
  const seatIp = isAddressOf(host.subnet, row.privateIp) ? null : await takeSeat(db, host)
  await db
    .updateTable('instances')
    .set({ nodeId: to, seatIp, placement: json(reason) })
    .where('uuid', '=', instanceUuid)
    .execute()
  return undefined
}

/**
 * An attempt that hung, and goes on after its move has failed, must change nothing any more: the instance has
 * been released at its old host by then. An attempt that comes before the workflow has recorded the move
 * fails as well, and is repeated.
 */
function requireUnderWay(move: InstanceRow['move'], to: string): void {
  const isUnderWay = move?.step !== undefined && move.step !== MoveStep.Release && move.to.nodeId === to
  if (!isUnderWay) throw new Error(`the row does not say that the instance moves to host ${to}`)
}

async function takeSeat(db: Db, host: Candidate): Promise<string> {
  const [seat] = (await takeAddresses(db, host, 1)) ?? []
  if (seat === undefined) throw new Refused({ kind: 'no-address' })
  return seat
}
