import type { ExpressionBuilder } from 'kysely'
import { footprintMb, minGuestMemoryMb, vmmMemoryMb } from '../../domain/host/memory-room.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import type { Db, Tables } from '../schema/tables.ts'
import { constant } from '../sql/constants.ts'
import { anyOf } from '../sql/lists.ts'
import { total } from '../sum.ts'

/**
 * The memory that all instances of a host that are not stopped would take with a VM, each as `footprintMb`
 * counts it. Callers may leave out some of these instances.
 */
function footprints(eb: ExpressionBuilder<Tables, 'nodes'>) {
  return unstopped(eb).select((of) => footprintSum(of).as('mb'))
}

function unstopped(eb: ExpressionBuilder<Tables, 'nodes'>) {
  return eb
    .selectFrom('instances')
    .whereRef('instances.nodeId', '=', 'nodes.id')
    .where('instances.state', '<>', constant(InstanceState.Stopped))
}

/** The sum of what `footprintMb` counts for each of the instances that a query selects. */
export function footprintSum(eb: ExpressionBuilder<Tables, 'instances'>) {
  const guestMb = eb.fn<number>('greatest', ['instances.memoryMb', eb.lit(minGuestMemoryMb)])
  return total(eb, eb(guestMb, '+', eb.lit(vmmMemoryMb)))
}

/**
 * The memory that a host needs if all its instances that are not stopped run at once. PostgreSQL reads this
 * from an index alone.
 */
export function promisedFootprintMb(eb: ExpressionBuilder<Tables, 'nodes'>) {
  return footprints(eb).$asScalar().$notNull()
}

/** The vCPUs of all instances of a host that are not stopped. */
export function promisedVcpus(eb: ExpressionBuilder<Tables, 'nodes'>) {
  return unstopped(eb)
    .select((of) => total(of, 'instances.vcpus').as('vcpus'))
    .$asScalar()
    .$notNull()
}

/**
 * The memory of the instances that have a VM, as far as the rows tell. Instances without a VM are left out:
 * those that sleep, those that wait for the next try after a failed start, and those that were deleted while
 * they started. So a user who creates and deletes instances in a loop does not take the memory from others.
 * An instance in doubt is left out, too: if the sum is too small, the host still refuses a start that does
 * not fit; if it were too large, a start that fits would be refused.
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
