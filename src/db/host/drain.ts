import { drainedNews } from '../../domain/host/news.ts'
import { chooseHosts } from '../../domain/host/placement.ts'
import { MoveStep } from '../../domain/instance/lifecycle-state.ts'
import { isDown } from '../../domain/instance/state.ts'
import type { Database } from '../database.ts'
import { Refused } from '../refused.ts'
import { tellOfHost } from './events.ts'
import { isLive } from './live.ts'
import { instanceColumns } from '../instance/row.ts'
import type { InstanceRow } from '../instance/row.ts'
import type { Db } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { measureRoom, openHosts, readCandidates } from '../instance/placement-candidates.ts'
import { footprintMb } from '../../domain/host/memory-room.ts'

/** Ends the drain of a host on which nothing is left, and tells administrators. Returns whether it did. */
export async function endDrain({ db }: Database, hostId: string): Promise<boolean> {
  return await db.transaction().execute(async (db) => {
    const ended = await db
      .updateTable('nodes')
      .set({ drainingAt: null })
      .where('id', '=', hostId)
      .where('drainingAt', 'is not', null)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('instances').select('uuid').where('nodeId', '=', hostId))),
      )
      .returning('id')
      .executeTakeFirst()
    if (ended === undefined) return false
    await tellOfHost(db, hostId, drainedNews)
    return true
  })
}

/** Whether an administrator still wants the host to be emptied. */
export async function isDraining({ db }: Database, hostId: string): Promise<boolean> {
  const found = db.selectFrom('nodes').select('id').where('id', '=', hostId)
  return (await found.where('drainingAt', 'is not', null).executeTakeFirst()) !== undefined
}

/** The instances on a host that are to move, after this one, in the order of their UUIDs. */
export async function instancesToMove(
  { db }: Database,
  hostId: string,
  { after = '', limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<readonly InstanceRow[]> {
  return await db
    .selectFrom('instances')
    .select(instanceColumns)
    .where('nodeId', '=', hostId)
    .where('deletedAt', 'is', null)
    .$if(after !== '', (query) => query.where('uuid', '>', after))
    .orderBy('uuid')
    .limit(limit)
    .execute()
}

/** How many instances are on their way from a host to another one. */
export async function movesUnderWay({ db }: Database, hostId: string): Promise<number> {
  const { count } = await db
    .selectFrom('instances')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('nodeId', '=', hostId)
    .where('move', 'is not', null)
    .where((eb) => eb(eb.ref('move', '->>').key('step'), 'is not', null))
    .where((eb) => eb(eb.ref('move', '->>').key('step'), '<>', MoveStep.Wanted))
    .executeTakeFirstOrThrow()
  return count
}

type MovingRow = Pick<
  InstanceRow,
  'nodeId' | 'memoryMb' | 'vcpus' | 'serviceUuid' | 'rolloutUuid' | 'state' | 'volumeUuid'
>

/**
 * The host to which an instance of a draining host would best move, by the placement rules. `except` comes
 * last, because a move there failed. Nothing is held: whoever writes the row checks again. Throws `Refused`
 * if there is none.
 */
export async function hostToMoveTo(
  { db }: Database,
  row: MovingRow,
  except: string | undefined,
): Promise<string> {
  const { memoryMb, vcpus, serviceUuid, rolloutUuid, state } = row
  const starts = !isDown(state)
  const group = serviceUuid === null ? undefined : { serviceUuid, rolloutUuid }
  const neededMb = footprintMb(memoryMb)
  const others = (await openHosts(db, { group })).filter((id) => id !== row.nodeId)
  if (others.length === 0) throw new Refused({ kind: 'all-cordoned' })
  const open = await readCandidates(db, await inMesh(db, others), { group, locked: false })
  const candidates = starts ? await measureRoom(db, open, neededMb) : open
  const sizeMb = await sizeOfVolume(db, row)
  const wish = { instance: { memoryMb, vcpus, starts }, ...(sizeMb > 0 && { volumeMb: sizeMb }) }
  const first = candidates.filter(({ id }) => id !== except)
  for (const some of [first, candidates]) {
    const choice = some.length === 0 ? undefined : chooseHosts(some, wish, 1)
    if (choice?.ok === true) return choice.chosen[0]!.host.id
    if (choice?.lack === 'volume-room' && some === candidates) {
      const free = candidates.map(({ volumeMb, promisedVolumeMb }) => volumeMb - promisedVolumeMb)
      throw new Refused({ kind: 'no-volume-room', sizeMb, count: 1, roomiestMb: Math.max(0, ...free) })
    }
  }
  const roomiestMb = Math.max(0, ...candidates.map(({ roomMb }) => roomMb))
  throw new Refused({ kind: 'no-memory-room', neededMb, count: 1, roomiestMb })
}

async function sizeOfVolume(db: Db, { volumeUuid }: Pick<InstanceRow, 'volumeUuid'>): Promise<number> {
  if (volumeUuid === null) return 0
  const found = db.selectFrom('volumes').select('sizeMb').where('uuid', '=', volumeUuid)
  return (await found.executeTakeFirst())?.sizeMb ?? 0
}

/** Those of the hosts that take part in the mesh; all, if none does, and the move is refused for that. */
async function inMesh(db: Db, ids: readonly string[]): Promise<readonly string[]> {
  const found = db.selectFrom('nodes').select('id').where('id', '=', anyOf(ids))
  const inside = await found.where('meshKey', 'is not', null).execute()
  return inside.length === 0 ? ids : inside.map(({ id }) => id)
}

/** Where an instance is, whether that host is live, and how its move is. Undefined if it is deleted. */
export async function readMoveOf({ db }: Database, uuid: string) {
  return await db
    .selectFrom('instances')
    .innerJoin('nodes', 'nodes.id', 'instances.nodeId')
    .select(['nodeId', 'revision', 'move'])
    .select((eb) => isLive(eb).$castTo<boolean>().as('isLive'))
    .where('uuid', '=', uuid)
    .where('deletedAt', 'is', null)
    .executeTakeFirst()
}
