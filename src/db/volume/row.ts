import type { EntityManager } from '@mikro-orm/postgresql'
import { VolumePhase, VolumeUse, volumeState } from '../../domain/volume/state.ts'
import type { VolumeState } from '../../domain/volume/state.ts'
import { liveCondition } from '../account/quotas.ts'

/** One volume as readers get it. */
export interface VolumeRow {
  readonly uuid: string
  readonly position: number
  readonly userUuid: string
  readonly nodeId: string
  readonly name: string
  readonly createdAt: Date
  readonly sizeMb: number
  /** False: it goes with the instance that it was made with. */
  readonly persistent: boolean
  readonly revision: number
  readonly phase: VolumePhase
  /** Its file system stood complete once. */
  readonly made: boolean
  /** Why the phase is `error`. */
  readonly failure: string | null
  readonly use: VolumeUse
  readonly state: VolumeState
  /** The instance that has it; a deleted one has none. */
  readonly attachedTo: { readonly uuid: string; readonly name: string } | null
  /** Where that instance mounts it. */
  readonly at: string | null
  readonly readonly: boolean
}

const useSql = `case when holder.uuid is null then '${VolumeUse.None}'
  when holder.live then '${VolumeUse.Live}' else '${VolumeUse.Resting}' end`

/**
 * The state over the rows of `selectVolumes`, as the domain has it: cases of its function, not rules of its
 * own.
 */
export const volumeStateSql = `case volumes.phase || '/' || ${useSql} ${Object.values(VolumePhase)
  .flatMap((phase) =>
    Object.values(VolumeUse).map((use) => `when '${phase}/${use}' then '${volumeState(phase, use)}'`),
  )
  .join(' ')} end`

/** Total, so that a field without an expression does not compile. */
const columns: Readonly<Record<keyof VolumeRow, string>> = {
  uuid: 'volumes.uuid',
  position: 'volumes.position',
  userUuid: 'volumes.user_uuid',
  nodeId: 'volumes.node_id',
  name: 'volumes.name',
  createdAt: 'volumes.created_at',
  sizeMb: 'volumes.size_mb',
  persistent: 'volumes.persistent',
  revision: 'volumes.revision',
  phase: 'volumes.phase',
  made: 'volumes.made',
  failure: 'volumes.failure',
  use: useSql,
  state: volumeStateSql,
  attachedTo: `case when holder.uuid is not null then
    json_build_object('uuid', holder.uuid, 'name', holder.name) end`,
  at: 'holder.volume_at',
  readonly: 'coalesce(holder.volume_readonly, false)',
}

/**
 * To be followed by conditions on `volumes` and `holder`, the instance that has it. Volumes that are deleted
 * are among them.
 */
export const volumesSql = `volumes left join lateral
  (select uuid, name, volume_at, volume_readonly, ${liveCondition} as live from instances
    where volume_uuid = volumes.uuid and deleted_at is null) as holder on true`

/** The same with rows that are `VolumeRow`. */
export const selectVolumes = `select ${Object.entries(columns)
  .map(([field, expression]) => `${expression} as "${field}"`)
  .join(', ')} from ${volumesSql}`

/** Within a transaction the driver answers moments and 64-bit integers as texts. */
interface Told {
  readonly position: string
  readonly revision: string
  readonly createdAt: string
}

/** The row as the transaction has left it. Undefined where there is none; one that is deleted is answered. */
export async function readVolume(em: EntityManager, uuid: string): Promise<VolumeRow | undefined> {
  const [row] = await em.execute<(Omit<VolumeRow, keyof Told> & Told)[]>(
    `${selectVolumes} where volumes.uuid = ?`,
    [uuid],
  )
  if (row === undefined) return undefined
  const { position, revision, createdAt } = row
  return {
    ...row,
    position: Number(position),
    revision: Number(revision),
    createdAt: new Date(createdAt),
  }
}
