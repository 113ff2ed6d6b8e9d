import { footprintMb } from '../../domain/host/memory-room.ts'
import { chooseHosts } from '../../domain/host/placement.ts'
import type { PlacementReason } from '../../domain/host/placement.ts'
import { hostAddressIndex, isAddressOf, privateAddress } from '../../domain/host/private-address.ts'
import type { MovedVolume, MovePlace } from '../../domain/instance/host-work.ts'
import { MoveStep } from '../../domain/instance/lifecycle-state.ts'
import { isDown } from '../../domain/instance/state.ts'
import { VolumePhase } from '../../domain/volume/state.ts'
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

interface PlannedMove {
  readonly ok: true
  readonly from: MovePlace
  readonly to: MovePlace
  /** The volume that moves with it. */
  readonly volume?: MovedVolume
}

/**
 * Where an instance would move from and to. Both hosts take part in the mesh, the new one takes new instances
 * and has room for its volume, and for its memory if it needs that now. All of this may be different a moment
 * later: `moveRow` looks again.
 */
export async function planMove(
  { db }: Database,
  row: InstanceRow,
  toId: string,
): Promise<PlannedMove | NoMove> {
  const no = (why: string): NoMove => ({ ok: false, why })
  const volume = await readMovedVolume(db, row)
  const stays = volume?.why ?? (await whyTied(db, row))
  if (stays !== undefined) return no(stays)
  const [from, to] = [await readPlace(db, row.nodeId), await readPlace(db, toId)]
  if (to === undefined) return no(`there is no host ${toId}`)
  if (from === undefined) return no(`its host ${row.nodeId} was removed`)
  const silent = [from, to].find(({ live }) => !live)
  if (silent !== undefined) return no(`host ${silent.nodeId} does not answer`)
  if (to.cordonedAt !== null) return no(`host ${toId} takes nothing new, because it is cordoned`)
  const outside = [from, to].find(({ meshKey }) => meshKey === null)
  if (outside !== undefined) return no(`host ${outside.nodeId} takes no part in the mesh`)
  const [host] = await readCandidates(db, [toId], { group: undefined, locked: false })
  const sizeMb = volume?.sizeMb ?? 0
  const lack =
    host === undefined ? `host ${toId} takes nothing new` : await whyNoRoom(db, host, { ...row, sizeMb })
  if (lack !== undefined) return no(lack)
  const moved = volume && { volume: { uuid: volume.uuid, sizeMb } }
  return { ok: true, from: placeOf(from), to: placeOf(to), ...moved }
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

/** The volume of an instance that is to move. `why` says for people why that can not move now. */
async function readMovedVolume(
  db: Db,
  { volumeUuid, nodeId }: Pick<InstanceRow, 'volumeUuid' | 'nodeId'>,
  { locked = false } = {},
): Promise<(MovedVolume & { readonly why?: string }) | undefined> {
  if (volumeUuid === null) return undefined
  const { uuid, sizeMb, name, phase, made, ...at } = await db
    .selectFrom('volumes')
    .select(['uuid', 'sizeMb', 'name', 'nodeId', 'phase', 'made', 'deletedAt'])
    .where('uuid', '=', volumeUuid)
    .$if(locked, (query) => query.forNoKeyUpdate())
    .executeTakeFirstOrThrow()
  const volume = { uuid, sizeMb }
  if (at.nodeId !== nodeId) return { ...volume, why: `its volume ${name} is on host ${at.nodeId}` }
  if (at.deletedAt !== null) return { ...volume, why: `its volume ${name} is being deleted` }
  const isReady = phase === VolumePhase.Ready && made
  return isReady ? volume : { ...volume, why: `its volume ${name} is ${phase} and not ready` }
}

/**
 * An instance of a rollout gives its volume to its counterpart, or gets it from there. So both have to be on
 * one host, as long as both are there.
 */
async function whyTied(
  db: Db,
  { uuid, replaces, volumeUuid }: Pick<InstanceRow, 'uuid' | 'replaces' | 'volumeUuid'>,
): Promise<string | undefined> {
  const other = await db
    .selectFrom('instances')
    .select('name')
    .where('deletedAt', 'is', null)
    .where((eb) =>
      eb.or([eb('replaces', '=', uuid), ...(replaces === null ? [] : [eb('uuid', '=', replaces)])]),
    )
    .$if(volumeUuid === null, (query) => query.where('volumeUuid', 'is not', null))
    .executeTakeFirst()
  if (other === undefined) return undefined
  return `a rollout may give the volume to or from ${other.name}, which has to be on the same host`
}

type MovedRow = Pick<InstanceRow, 'memoryMb' | 'vcpus' | 'state'> & { readonly sizeMb: number }

async function whyNoRoom(
  db: Db,
  host: Candidate,
  { memoryMb, vcpus, state, sizeMb }: MovedRow,
): Promise<string | undefined> {
  const starts = !isDown(state)
  const neededMb = footprintMb(memoryMb)
  const measured = starts ? await measureRoom(db, [host], neededMb) : [host]
  const wish = { instance: { memoryMb, vcpus, starts }, ...(sizeMb > 0 && { volumeMb: sizeMb }) }
  const choice = chooseHosts(measured, wish, 1)
  if (choice.ok) return undefined
  if (choice.lack === 'volume-room') {
    const freeMb = Math.max(0, host.volumeMb - host.promisedVolumeMb)
    return `its volume needs ${sizeMb} MB, and host ${host.id} has ${freeMb} MB left for volumes`
  }
  const leftMb = Math.max(0, measured[0]!.roomMb)
  return `it needs ${neededMb} MiB, and host ${host.id} has ${leftMb} MiB of memory left`
}

export interface RowMove {
  readonly instanceUuid: string
  readonly from: string
  readonly to: string
  /** The volume that was fetched with it. */
  readonly volumeUuid?: string
}

/**
 * Makes the new host the host of the instance and of its volume. The instance keeps its private address,
 * and gets a seat there unless it has come home: its address is of that host's own network. A repeat
 * changes nothing. The value says for people why the row still names the old host; it is undefined if the
 * row names the new one.
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

async function moveLocked(
  db: Db,
  { instanceUuid, from, to, volumeUuid }: RowMove,
): Promise<string | undefined> {
  const owner = await db
    .selectFrom('instances')
    .select('userUuid')
    .where('uuid', '=', instanceUuid)
    .executeTakeFirst()
  // The user's lock comes before all others. A volume is attached, detached and given away under it, too.
  if (owner === undefined || (await findLockedUser(db, owner.userUuid)) === undefined) return 'it is deleted'
  const row = await db
    .selectFrom('instances')
    .select([
      'uuid',
      'nodeId',
      'volumeUuid',
      'memoryMb',
      'vcpus',
      'state',
      'deletedAt',
      'privateIp',
      'move',
      'replaces',
    ])
    .where('uuid', '=', instanceUuid)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) return 'it is deleted'
  if (row.nodeId === to) return undefined
  if (row.deletedAt !== null) return 'it is deleted'
  if (row.nodeId !== from) return `it is on host ${row.nodeId} by now`
  requireUnderWay(row.move, to)
  // An earlier worker names no volume. The volume would stay behind.
  if (row.volumeUuid !== (volumeUuid ?? null)) return otherVolume(row)
  const volume = await readMovedVolume(db, row, { locked: true })
  const stays = volume?.why ?? (await whyTied(db, row))
  if (stays !== undefined) return stays
  await takeAll(db, LockSet.Placements, [to])
  // Only a host that is live and not cordoned is among the candidates.
  const [host] = await readCandidates(db, [to], { group: undefined, locked: true })
  if (host === undefined) return `host ${to} takes nothing new any more`
  const lack = await whyNoRoom(db, host, { ...row, sizeMb: volume?.sizeMb ?? 0 })
  if (lack !== undefined) return lack
  const reason: PlacementReason = { kind: 'moved', nodeId: from }
  const seatIp = isAddressOf(host.subnet, row.privateIp) ? null : await takeSeat(db, host)
  await db
    .updateTable('instances')
    .set({ nodeId: to, seatIp, placement: json(reason) })
    .where('uuid', '=', instanceUuid)
    .execute()
  if (volume !== undefined)
    await db.updateTable('volumes').set({ nodeId: to }).where('uuid', '=', volume.uuid).execute()
  return undefined
}

function otherVolume({ volumeUuid }: Pick<InstanceRow, 'volumeUuid'>): string {
  const change = volumeUuid === null ? 'its volume was detached' : 'another volume was attached'
  return `${change} after its move was asked for`
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
