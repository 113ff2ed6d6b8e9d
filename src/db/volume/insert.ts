import { randomUUID } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import { nameSuffixLength } from '../../domain/object-name.ts'
import { volumeNamePrefix } from '../../domain/volume/state.ts'
import { Volume } from '../schema/volume.ts'
import { maxNameAttempts } from '../random-suffix.ts'
import type { RandomSuffix } from '../random-suffix.ts'
import { Refused } from '../refused.ts'

export interface VolumeWriter {
  readonly userUuid: string
  readonly randomSuffix: RandomSuffix
}

/**
 * Writes one volume on each of the hosts, in a transaction that has the user's row and the hosts' locked:
 * names that are free here stay free until the commit, and so does the room. Answers their UUIDs in that
 * order. Throws `Refused`.
 */
export async function insertVolumes(
  em: EntityManager,
  writer: VolumeWriter,
  wanted: {
    /** Of a single one. Absent: generated. */
    readonly name?: string
    readonly nodeIds: readonly string[]
    readonly sizeMb: number
    readonly persistent: boolean
  },
): Promise<readonly string[]> {
  const { nodeIds, sizeMb, persistent } = wanted
  const names =
    wanted.name === undefined
      ? await generateNames(em, writer, nodeIds.length)
      : [await freeName(em, writer.userUuid, wanted.name)]
  const rows = nodeIds.map((node, index) => {
    return { uuid: randomUUID(), user: writer.userUuid, node, name: names[index]!, sizeMb, persistent }
  })
  await em.insertMany(Volume, rows)
  return rows.map(({ uuid }) => uuid)
}

async function freeName(em: EntityManager, userUuid: string, name: string): Promise<string> {
  const taken = await takenNames(em, userUuid, [name])
  if (taken.length > 0) throw new Refused({ kind: 'volume-name-taken', name })
  return name
}

async function generateNames(
  em: EntityManager,
  { userUuid, randomSuffix }: VolumeWriter,
  count: number,
): Promise<readonly string[]> {
  const names = new Set<string>()
  for (let attempt = 0; attempt < maxNameAttempts; attempt++) {
    const missing = count - names.size
    for (let index = 0; index < missing; index++)
      names.add(`${volumeNamePrefix}-${randomSuffix(nameSuffixLength)}`)
    for (const name of await takenNames(em, userUuid, [...names])) names.delete(name)
    if (names.size === count) return [...names]
  }
  throw new Error('no generated name of a volume is free')
}

async function takenNames(
  em: EntityManager,
  userUuid: string,
  names: readonly string[],
): Promise<readonly string[]> {
  const rows = await em.execute<{ name: string }[]>(
    `select name from volumes where user_uuid = ? and deleted_at is null
       and name in (${names.map(() => '?').join(', ')})`,
    [userUuid, ...names],
  )
  return rows.map((row) => row.name)
}
