import type { ExpressionBuilder } from 'kysely'
import { footprintMb, minGuestMemoryMb, vmmMemoryMb } from '../../domain/host/memory-room.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import type { Db, Tables } from '../schema/tables.ts'
import { constant } from '../sql/constants.ts'
import { anyOf } from '../sql/lists.ts'
import { total } from '../sum.ts'

/** What VMs on a host take together, each as `footprintMb` counts it. */
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

/** What all instances of a host would take that are not stopped. An index alone answers it. */
export function promisedFootprintMb(eb: ExpressionBuilder<Tables, 'nodes'>) {
  return footprints(eb).$asScalar().$notNull()
}

/**
 * What the instances take that have a VM, as far as rows tell. One that sleeps has none, one whose start
 * failed has none until the next try, and one that was deleted while it started gets none: a user who creates
 * and deletes in a loop keeps nobody from the memory. Where that is less than what the host counts, the host
 * still refuses; it is never more, so that nothing is refused that fits.
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

/** The memory that hosts have for one more start, by the rows as they are now. */
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

/** What an instance needs, and what the host has left for it where that is less. */
export interface MemoryLack {
  readonly neededMb: number
  readonly roomMb: number
}

/** Whether a start of an instance without a VM would find its host full. */
export async function findMemoryLackOn(
  db: Db,
  nodeId: string,
  memoryMb: number,
): Promise<MemoryLack | undefined> {
  const neededMb = footprintMb(memoryMb)
  const roomMb = (await readMemoryRoom(db, [nodeId])).get(nodeId)
  return roomMb === undefined || roomMb >= neededMb ? undefined : { neededMb, roomMb: Math.max(0, roomMb) }
}
