import { planBalance } from '../../domain/host/balance.ts'
import type { BalancedInstance, BalancingMove } from '../../domain/host/balance.ts'
import type { PlacementHost } from '../../domain/host/placement.ts'
import { withWish, withoutWish } from '../../domain/host/placement.ts'
import { InstanceState, isDown } from '../../domain/instance/state.ts'
import { VolumePhase } from '../../domain/volume/state.ts'
import type { Database } from '../database.ts'
import { readCandidates } from '../instance/placement-candidates.ts'
import type { Db, Row } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { readMemoryRoom } from './memory.ts'

/** The most instances that are looked at. With more, some may stay where a better plan would move them. */
const mostInstances = 20_000
/** An instance whose last move failed is left alone for so long: it would most likely fail again. */
const failedForMs = 600_000

/**
 * Which moves would make the hosts more equally full. Hosts that are not heard, cordoned or outside the mesh
 * take no part. Nothing is held: whoever moves an instance looks again.
 */
export async function readBalance({ db }: Database, most: number): Promise<readonly BalancingMove[]> {
  const hosts = await readHosts(db)
  const ids = hosts.map(({ id }) => id)
  const rows = await readInstances(db, ids)
  const instances = rows.map(balanced)
  return planBalance(countMoving(hosts, rows, instances), instances, most)
}

async function readHosts(db: Db): Promise<readonly PlacementHost[]> {
  const inside = await db
    .selectFrom('nodes')
    .select('id')
    .where('removedAt', 'is', null)
    .where('meshKey', 'is not', null)
    .execute()
  const ids = inside.map(({ id }) => id)
  const candidates = await readCandidates(db, ids, { group: undefined, locked: false })
  const rooms = await readMemoryRoom(db, ids)
  return candidates.map((host) => ({ ...host, roomMb: rooms.get(host.id) ?? 0 }))
}

const columns = [
  'uuid',
  'name',
  'nodeId',
  'memoryMb',
  'vcpus',
  'state',
  'serviceUuid',
  'rolloutUuid',
  'retiredAt',
  'move',
] as const
interface BalancedRow extends Pick<Row<'instances'>, (typeof columns)[number]> {
  /** Of its volume; null if it has none. */
  readonly sizeMb: number | null
  readonly phase: VolumePhase | null
}

async function readInstances(db: Db, hostIds: readonly string[]): Promise<readonly BalancedRow[]> {
  return await db
    .selectFrom('instances')
    .leftJoin('volumes', 'volumes.uuid', 'instances.volumeUuid')
    .select(columns.map((column) => `instances.${column}` as const))
    .select(['volumes.sizeMb', 'volumes.phase'])
    .where('instances.nodeId', '=', anyOf(hostIds))
    .where('instances.deletedAt', 'is', null)
    .orderBy('instances.uuid')
    .limit(mostInstances)
    .execute()
}

function balanced(row: BalancedRow): BalancedInstance {
  const { uuid, name, nodeId, memoryMb, vcpus, state, serviceUuid, rolloutUuid, retiredAt, move, sizeMb } =
    row
  const isMoving = move?.step !== undefined
  return {
    uuid,
    name,
    nodeId: isMoving ? move.to.nodeId : nodeId,
    wish: {
      instance: { memoryMb, vcpus, starts: !isDown(state) },
      ...(sizeMb !== null && { volumeMb: sizeMb }),
    },
    ...(serviceUuid !== null && retiredAt === null && { kind: `${serviceUuid} ${rolloutUuid}` }),
    isFree: !isMoving && mayMove(row, Date.now()),
  }
}

function mayMove({ state, phase, retiredAt, move }: BalancedRow, nowMs: number): boolean {
  const isVolumeReady = phase === null || phase === VolumePhase.Ready
  if (!isVolumeReady || retiredAt !== null) return false
  if (move?.failure !== undefined && nowMs - move.sinceMs < failedForMs) return false
  return isDown(state) || state === InstanceState.Running
}

/** An instance that is on its way counts on its new host alone. */
function countMoving(
  hosts: readonly PlacementHost[],
  rows: readonly BalancedRow[],
  instances: readonly BalancedInstance[],
): readonly PlacementHost[] {
  const counted = new Map(hosts.map((host) => [host.id, host]))
  const change = (id: string, to: (host: PlacementHost) => PlacementHost) => {
    const host = counted.get(id)
    if (host !== undefined) counted.set(id, to(host))
  }
  for (const [index, { nodeId: old }] of rows.entries()) {
    const { nodeId, wish } = instances[index]!
    if (nodeId === old) continue
    change(old, (host) => withoutWish(host, wish))
    change(nodeId, (host) => withWish(host, wish))
  }
  return [...counted.values()]
}
