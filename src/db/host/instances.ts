import { strict as assert } from 'node:assert'
import type { ExpressionBuilder } from 'kysely'
import { VolumePlace } from '../../domain/host/api-protocol.ts'
import type { LaunchSpec, LaunchVolume, NodeInstances } from '../../domain/host/api-protocol.ts'
import { MoveStep } from '../../domain/instance/lifecycle-state.ts'
import type { Database } from '../database.ts'
import { openEnv, scaleToZeroOf } from '../instance/row.ts'
import type { Row, Tables } from '../schema/tables.ts'
import type { SecretBox } from '../secret-box.ts'

/** All that a host needs to start the instance. Undefined if the instance is deleted or on another host. */
export async function loadLaunchSpec(
  deps: { readonly database: Database; readonly secretBox: SecretBox },
  wanted: { readonly nodeId: string; readonly uuid: string },
): Promise<LaunchSpec | undefined> {
  const row = await deps.database.db
    .selectFrom('instances')
    .innerJoin('users', 'users.uuid', 'instances.userUuid')
    .leftJoin('volumes', 'volumes.uuid', 'instances.volumeUuid')
    .select(launchColumns)
    .select(['users.hardImageMb as imageQuotaMb', 'volumes.sizeMb', 'volumes.made'])
    .where('instances.uuid', '=', wanted.uuid)
    .where('instances.nodeId', '=', wanted.nodeId)
    .where('instances.deletedAt', 'is', null)
    .executeTakeFirst()
  if (!row) return undefined
  const { uuid, name, userUuid, image, imageQuotaMb, memoryMb, vcpus, args, privateIp, mac, state } = row
  const { configVersion, seatIp } = row
  const spec = {
    uuid,
    name,
    userUuid,
    image,
    imageQuotaMb,
    memoryMb,
    vcpus,
    privateIp,
    mac,
    state,
    env: openEnv(deps.secretBox, row),
    scaleToZero: scaleToZeroOf(row),
    ...(configVersion > 0 && { configVersion }),
    ...(seatIp !== null && { seatIp }),
  }
  const volume = launchVolume(row)
  return { ...spec, ...(args !== null && { args }), ...(volume && { volume }) }
}

const launchColumns = [
  'instances.uuid',
  'instances.name',
  'instances.userUuid',
  'image',
  'memoryMb',
  'vcpus',
  'args',
  'privateIp',
  'seatIp',
  'mac',
  'instances.state',
  'envSealed',
  'configVersion',
  'standbyPolicy',
  'standbyCooldownMs',
  'standbyStateful',
  'volumeUuid',
  'volumeAt',
  'volumeReadonly',
] as const

function launchVolume(
  row: Pick<Row<'instances'>, 'volumeUuid' | 'volumeAt' | 'volumeReadonly'> & {
    readonly [Column in 'sizeMb' | 'made']: Row<'volumes'>[Column] | null
  },
): LaunchVolume | undefined {
  const { volumeUuid: uuid, sizeMb, made, volumeAt: at } = row
  if (uuid === null) return undefined
  assert(at !== null && sizeMb !== null && made !== null, 'an attached volume has a row and a mount point')
  return { uuid, sizeMb, made, at, readonly: row.volumeReadonly }
}

/**
 * Every instance with a row on the host, also those that are deleted and wait for the host to remove them,
 * and those that are moving there. One statement reads both. With two, a row that is written in between could
 * be missing from both answers, and the host would delete what it has fetched.
 */
export async function instancesOfNode({ db }: Database, nodeId: string): Promise<NodeInstances> {
  const rows = await db
    .selectFrom('instances')
    .select(['uuid', 'state', 'boot', 'serviceUuid', 'nodeId'])
    .where((eb) => eb.or([eb('nodeId', '=', nodeId), movesTo(eb, nodeId)]))
    .orderBy('position')
    .execute()
  const here = rows.filter((row) => row.nodeId === nodeId)
  const arriving = rows.filter((row) => row.nodeId !== nodeId)
  return {
    instances: here.map(({ nodeId: _here, ...instance }) => instance),
    arriving: arriving.map(({ uuid }) => uuid),
  }
}

/**
 * Whether a move to the host is under way: only then the row may come to name it. `requireUnderWay` in
 * `../instance/move.ts` has the same rule. A move that is over has no step.
 */
function movesTo(eb: ExpressionBuilder<Tables, 'instances'>, nodeId: string) {
  const step = eb.ref('move', '->>').key('step')
  return eb.and([
    eb('move', 'is not', null),
    eb(step, 'is not', null),
    eb(step, '<>', MoveStep.Release),
    eb(eb.ref('move', '->>').key('to').key('nodeId'), '=', nodeId),
  ])
}

/** Where a volume is, as seen from this host. One that is deleted and not removed yet counts. */
export async function placeOfVolume(
  { db }: Database,
  nodeId: string,
  volumeUuid: string,
): Promise<VolumePlace> {
  const found = db.selectFrom('volumes').select('nodeId').where('uuid', '=', volumeUuid)
  const row = await found.executeTakeFirst()
  if (row === undefined) return VolumePlace.Nowhere
  return row.nodeId === nodeId ? VolumePlace.Here : VolumePlace.Elsewhere
}

/**
 * `<repository>@sha256:<hex>` of every instance that is on the host or moves there: the images that it may
 * pull.
 */
export async function imagesInUse({ db }: Database, nodeId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('instances')
    .select('image')
    .where('nodeId', '=', nodeId)
    .union(
      db
        .selectFrom('instances')
        .select('image')
        .where((eb) => movesTo(eb, nodeId)),
    )
    .orderBy('image')
    .execute()
  return rows.map(({ image }) => image)
}

/** Whether an instance or a volume is on this host. Those that are being deleted count. */
export async function isPlacedOn(
  { db }: Database,
  nodeId: string,
  { kind, uuid }: { readonly kind: 'instance' | 'volume'; readonly uuid: string },
): Promise<boolean> {
  const found = await db
    .selectFrom(kind === 'instance' ? 'instances' : 'volumes')
    .select('uuid')
    .where('uuid', '=', uuid)
    .where('nodeId', '=', nodeId)
    .executeTakeFirst()
  return found !== undefined
}
