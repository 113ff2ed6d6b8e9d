import type { ExpressionBuilder } from 'kysely'
import { placementSilentAfterMs } from '../../domain/host/api-protocol.ts'
import type { PlacementHost } from '../../domain/host/placement.ts'
import { isLive } from '../host/live.ts'
import { footprintSum, promisedFootprintMb, readMemoryRoom } from '../host/memory.ts'
import { Refused } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { Db, Tables } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { ago } from '../sql/time.ts'
import { total } from '../sum.ts'

/** The instances among which new ones are spread: those of one version of a service. */
export interface PlacementGroup {
  readonly serviceUuid: string
  /** The rollout that brings the version in. Null: it is the version that the service has. */
  readonly rolloutUuid: string | null
}

/**
 * A host that may be chosen. At first sleeping instances count for `roomMb` as if they ran, because that is
 * a quick query. If no host has enough room then, `measureRoom` makes the number exact.
 */
export interface Candidate extends PlacementHost {
  readonly subnet: string
  readonly nextAddress: number
  /** Whether the installation has no other host, live or not. */
  readonly isAlone: boolean
}

/** Which hosts may be chosen, and what is counted on them. */
export interface CandidatesWanted {
  /** The volume whose host alone may be chosen. */
  readonly only?: { readonly name: string; readonly nodeId: string } | undefined
  readonly group?: PlacementGroup | undefined
}

/** The ids of the hosts that may be chosen. There is at least one; otherwise this throws `Refused`. */
export async function openHosts(db: Db, { only }: CandidatesWanted): Promise<readonly string[]> {
  const open = await db
    .selectFrom('nodes')
    .select('id')
    .where(isOpen)
    .$if(only !== undefined, (query) => query.where('id', '=', only!.nodeId))
    .orderBy('id')
    .execute()
  if (open.length > 0) return open.map(({ id }) => id)
  throw new Refused(only === undefined ? await noNode(db) : await closedHost(db, only))
}

function isOpen(eb: ExpressionBuilder<Tables, 'nodes'>) {
  return eb.and([isLive(eb), eb('cordonedAt', 'is', null)])
}

async function closedHost(
  db: Db,
  { name, nodeId }: { readonly name: string; readonly nodeId: string },
): Promise<WriteRefusal> {
  const isCordoned = await hasLiveCordoned(db, nodeId)
  return { kind: isCordoned ? 'volume-host-cordoned' : 'volume-host-silent', name, nodeId }
}

async function noNode(db: Db): Promise<WriteRefusal> {
  if (await hasLiveCordoned(db)) return { kind: 'all-cordoned' }
  const last = await db
    .selectFrom('nodes')
    .select((eb) => eb.fn.max('heartbeatAt').as('heardAt'))
    .executeTakeFirst()
  return { kind: 'no-node', ...(last?.heardAt && { heardAt: last.heardAt }) }
}

/** Whether a host that is heard, or this one, is cordoned. */
async function hasLiveCordoned(db: Db, nodeId?: string): Promise<boolean> {
  const cordoned = await db
    .selectFrom('nodes')
    .select('id')
    .where(isLive)
    .where('cordonedAt', 'is not', null)
    .$if(nodeId !== undefined, (query) => query.where('id', '=', nodeId!))
    .executeTakeFirst()
  return cordoned !== undefined
}

/**
 * Reads those of the hosts that may still be chosen, by id. Instances and volumes that are deleted but not
 * yet removed still hold their room, so they count. With `locked`, also locks the rows until the commit, so
 * that the hosts are neither cordoned nor removed before it. Whoever counts on the sums holds the hosts'
 * locks of `LockSet.Placements` already: a statement that waits for rows sums up what was there before it
 * waited.
 */
export async function readCandidates(
  db: Db,
  ids: readonly string[],
  { group, locked }: { readonly group: PlacementGroup | undefined; readonly locked: boolean },
): Promise<readonly Candidate[]> {
  return db
    .selectFrom('nodes')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('instances')
          .whereRef('instances.nodeId', '=', 'nodes.id')
          .select((of) => [footprintSum(of).as('memoryMb'), total(of, 'instances.vcpus').as('vcpus')])
          .as('promised'),
      (join) => join.onTrue(),
    )
    .select((eb) => [
      'id',
      'subnet',
      'nextAddress',
      'nodes.memoryMb',
      'cpus',
      'volumeMb',
      eb('heartbeatAt', '>', ago(placementSilentAfterMs)).$castTo<boolean>().as('isHeard'),
      eb.ref('promised.memoryMb').$notNull().as('promisedMemoryMb'),
      eb.ref('promised.vcpus').$notNull().as('promisedVcpus'),
      eb('nodes.memoryMb', '-', promisedFootprintMb(eb)).as('roomMb'),
      eb
        .selectFrom('volumes')
        .whereRef('volumes.nodeId', '=', 'nodes.id')
        .select((of) => total(of, 'volumes.sizeMb').as('mb'))
        .$asScalar()
        .$notNull()
        .as('promisedVolumeMb'),
      alikeOn(eb, group).as('alike'),
      eb
        .not(
          eb.exists(
            eb.selectFrom('nodes as other').whereRef('other.id', '<>', 'nodes.id').select('other.id'),
          ),
        )
        .$castTo<boolean>()
        .as('isAlone'),
    ])
    .where('id', '=', anyOf(ids))
    .where(isOpen)
    .orderBy('id')
    .$if(locked, (query) => query.forNoKeyUpdate('nodes'))
    .execute()
}

/** How many instances of the group each host has that has any, as `readCandidates` counts them. */
export async function readAlike(
  db: Db,
  { serviceUuid, rolloutUuid }: PlacementGroup,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('instances')
    .where('serviceUuid', '=', serviceUuid)
    .where('rolloutUuid', 'is not distinct from', rolloutUuid)
    .where('deletedAt', 'is', null)
    .where('retiredAt', 'is', null)
    .groupBy('nodeId')
    .select((eb) => ['nodeId', eb.fn.countAll<number>().as('count')])
    .execute()
  return new Map(rows.map(({ nodeId, count }) => [nodeId, count]))
}

/** How many instances of the group a host has, without those that are about to go. */
function alikeOn(eb: ExpressionBuilder<Tables, 'nodes'>, group: PlacementGroup | undefined) {
  if (group === undefined) return eb.lit(0).$castTo<number>()
  const { serviceUuid, rolloutUuid } = group
  return eb
    .selectFrom('instances')
    .whereRef('instances.nodeId', '=', 'nodes.id')
    .where('serviceUuid', '=', serviceUuid)
    .where('rolloutUuid', 'is not distinct from', rolloutUuid)
    .where('deletedAt', 'is', null)
    .where('retiredAt', 'is', null)
    .select((of) => of.fn.countAll<number>().as('count'))
    .$asScalar()
    .$notNull()
}

/**
 * Makes `roomMb` exact: sleeping instances hold no memory, so they do not count any more. Only done if no
 * host has enough room while they count.
 */
export async function measureRoom(
  db: Db,
  candidates: readonly Candidate[],
  neededMb: number,
): Promise<readonly Candidate[]> {
  if (candidates.some(({ roomMb }) => roomMb >= neededMb)) return candidates
  const rooms = await readMemoryRoom(
    db,
    candidates.map(({ id }) => id),
  )
  return candidates.map((host) => ({ ...host, roomMb: rooms.get(host.id) ?? 0 }))
}
