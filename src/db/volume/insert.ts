import { randomUUID } from 'node:crypto'
import { thePlatform } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { nameSuffixLength } from '../../domain/object-name.ts'
import { VolumePhase, volumeNamePrefix } from '../../domain/volume/state.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { maxNameAttempts } from '../random-suffix.ts'
import type { RandomSuffix } from '../random-suffix.ts'
import { Refused } from '../refused.ts'
import type { Db } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'

export interface VolumeWriter {
  readonly userUuid: string
  readonly randomSuffix: RandomSuffix
  readonly asker?: Asker
}

/**
 * Writes one volume on each of the hosts. The caller's transaction has locked the rows of the user and the
 * hosts, so the names and the room that are free here stay free until the commit. Returns the volumes' UUIDs
 * in the order of the hosts. Throws `Refused`.
 */
export async function insertVolumes(
  db: Db,
  writer: VolumeWriter,
  wanted: {
    /** The name, if there is only one volume. Absent: generated. */
    readonly name?: string
    readonly nodeIds: readonly string[]
    readonly sizeMb: number
    readonly persistent: boolean
  },
): Promise<readonly string[]> {
  const { nodeIds, sizeMb, persistent } = wanted
  const names =
    wanted.name === undefined
      ? await generateNames(db, writer, nodeIds.length)
      : [await freeName(db, writer.userUuid, wanted.name)]
  const { userUuid } = writer
  const rows = nodeIds.map((nodeId, index) => {
    return { uuid: randomUUID(), userUuid, nodeId, name: names[index]!, sizeMb, persistent }
  })
  await db.insertInto('volumes').values(rows).execute()
  await writeEvents(
    db,
    rows.map((row) => ({
      ...eventObject(row),
      kind: UserEventKind.VolumeCreated,
      to: VolumePhase.Uninitialized,
      why: `it was asked for, and host ${row.nodeId} has room for its ${sizeMb} MiB`,
      asker: writer.asker ?? thePlatform,
      facts: { size_mb: sizeMb, host: row.nodeId },
    })),
  )
  return rows.map(({ uuid }) => uuid)
}

async function freeName(db: Db, userUuid: string, name: string): Promise<string> {
  const taken = await takenNames(db, userUuid, [name])
  if (taken.length > 0) throw new Refused({ kind: 'volume-name-taken', name })
  return name
}

async function generateNames(
  db: Db,
  { userUuid, randomSuffix }: VolumeWriter,
  count: number,
): Promise<readonly string[]> {
  const names = new Set<string>()
  for (let attempt = 0; attempt < maxNameAttempts; attempt++) {
    const missing = count - names.size
    for (let index = 0; index < missing; index++)
      names.add(`${volumeNamePrefix}-${randomSuffix(nameSuffixLength)}`)
    for (const name of await takenNames(db, userUuid, [...names])) names.delete(name)
    if (names.size === count) return [...names]
  }
  throw new Error('no generated name of a volume is free')
}

async function takenNames(db: Db, userUuid: string, names: readonly string[]): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('volumes')
    .select('name')
    .where('userUuid', '=', userUuid)
    .where('deletedAt', 'is', null)
    .where('name', '=', anyOf(names))
    .execute()
  return rows.map((row) => row.name)
}
