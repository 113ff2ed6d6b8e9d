import type { ExpressionBuilder } from 'kysely'
import { footprintMb, minGuestMemoryMb, vmmMemoryMb } from '../../domain/host/memory-room.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import type { Db, Tables } from '../schema/tables.ts'
import { constant } from '../sql/constants.ts'
import { anyOf } from '../sql/lists.ts'
import { total } from '../sum.ts'

/** The memory that VMs on a host take together, each as `footprintMb` counts it. */
function footprints(eb: ExpressionBuilder<Tables, 'nodes'>) {
  return eb
    .selectFrom('instances')
    .whereRef('instances.nodeId', '=', 'nodes.id')
    .where('instances.state', '<>', constant(InstanceState.Stopped))
    .select((of) => {
      const guestMb = of.fn<number>('greatest', ['instances.memoryMb', of.lit(minGuestMemoryMb)])
      return total(of, of(guestMb, '+', of.lit(vmmMemoryMb))).as('mb')
    })
}

/**
 * The memory that all instances of a host would take that are not stopped. PostgreSQL answers it from an
 * index alone.
 */
export function promisedFootprintMb(eb: ExpressionBuilder<Tables, 'nodes'>) {
  return footprints(eb).$asScalar().$notNull()
}

/**
 * The memory of the instances that have a VM, as far as rows tell. A sleeping instance has no VM. After a
 * failed start it has none until the next try. An instance that was deleted while it started gets none, so a
 * user who creates and deletes in a loop keeps nobody from the memory. If this sum is less than the host's
 * own count, the host still refuses a start. The sum is never more, so no start is refused that fits.
 */
export function heldFootprintMb(eb: ExpressionBuilder<Tables, 'nodes'>) {
  return footprints(eb)
    .where('instances.state', '<>', InstanceState.Standby)
    .where(({ or, and, eb: of }) =>
      or([
        of('instances.state', '<>', InstanceState.Starting),
        and([of('instances.failure', 'is', null), of('instances.deletedAt', 'is', null)]),
      ]),
    )
    .$asScalar()
    .$notNull()
}

/** The memory that each host has left for one more start, by the rows as they are now. */
export async function readMemoryRoom(
  db: Db,
  nodeIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('nodes')
    .select((eb) => ['id', eb('memoryMb', '-', heldFootprintMb(eb)).as('roomMb')])
    .where('id', '=', anyOf(nodeIds))
    .execute()
  return new Map(rows.map(({ id, roomMb }) => [id, roomMb]))
}

/** The memory that an instance needs, and the smaller amount that its host has left. */
export interface MemoryLack {
  readonly neededMb: number
  readonly roomMb: number
}

/** The memory that is missing for the start of an instance without a VM. Undefined if the host has room. */
export async function findMemoryLackOn(
  db: Db,
  nodeId: string,
  memoryMb: number,
): Promise<MemoryLack | undefined> {
  const neededMb = footprintMb(memoryMb)
  const roomMb = (await readMemoryRoom(db, [nodeId])).get(nodeId)
  return roomMb === undefined || roomMb >= neededMb ? undefined : { neededMb, roomMb: Math.max(0, roomMb) }
}
