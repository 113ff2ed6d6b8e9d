import type { EntityManager } from '@mikro-orm/postgresql'
import { footprintMb, minGuestMemoryMb, vmmMemoryMb } from '../../domain/host/memory-room.ts'

/** What every VM is counted with, as `footprintMb` says it. */
const footprintSql = `greatest(i.memory_mb, ${minGuestMemoryMb}) + ${vmmMemoryMb}`

/** Of one host: what all would take that are not stopped. An index alone answers it. */
export const promisedFootprintSql = `(select coalesce(sum(${footprintSql}), 0)::int from instances i
  where i.node_id = nodes.id and i.state <> 'stopped')`

/**
 * What those take that have a VM, as far as rows tell. One that sleeps has none, one whose start failed has
 * none until the next try, and one that was deleted while it started gets none: a user who creates and
 * deletes in a loop keeps nobody from the memory. Where that is less than what the host counts, the host
 * still refuses; it is never more, so that nothing is refused that fits.
 */
export const heldFootprintSql = `(select coalesce(sum(${footprintSql}), 0)::int from instances i
  where i.node_id = nodes.id and i.state <> 'stopped' and i.state <> 'standby'
    and (i.state <> 'starting' or (i.failure is null and i.deleted_at is null)))`

/** The memory that hosts have for one more start, by the rows as they are now. */
export async function readMemoryRoom(
  em: EntityManager,
  nodeIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await em.execute<{ id: string; roomMb: number }[]>(
    `select id, memory_mb - ${heldFootprintSql} as "roomMb" from nodes
     where id in (${nodeIds.map(() => '?').join(', ')})`,
    [...nodeIds],
  )
  return new Map(rows.map(({ id, roomMb }) => [id, roomMb]))
}

/** What an instance needs, and what the host has left for it where that is less. */
export interface MemoryLack {
  readonly neededMb: number
  readonly roomMb: number
}

/** Whether a start of an instance without a VM would find its host full. */
export async function findMemoryLackOn(
  em: EntityManager,
  nodeId: string,
  memoryMb: number,
): Promise<MemoryLack | undefined> {
  const neededMb = footprintMb(memoryMb)
  const roomMb = (await readMemoryRoom(em, [nodeId])).get(nodeId)
  return roomMb === undefined || roomMb >= neededMb ? undefined : { neededMb, roomMb: Math.max(0, roomMb) }
}
