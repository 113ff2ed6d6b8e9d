import { expressionBuilder } from 'kysely'
import { jsonBuildObject } from 'kysely/helpers/postgres'
import type { Expression, ExpressionBuilder } from 'kysely'
import { VolumePhase, VolumeUse, volumeState } from '../../domain/volume/state.ts'
import type { VolumeState } from '../../domain/volume/state.ts'
import { isLive } from '../account/quotas.ts'
import { json } from '../postgres-client.ts'
import { columnsOf } from '../schema/columns.ts'
import type { Db, Row, Tables } from '../schema/tables.ts'

/** Columns that readers do not get. */
const inner = ['deletedAt', 'workflowStartedAt'] as const satisfies readonly (keyof Row<'volumes'>)[]

/** One volume as readers get it. The entity says what its columns mean. */
export interface VolumeRow extends Readonly<Omit<Row<'volumes'>, (typeof inner)[number]>> {
  readonly use: VolumeUse
  readonly state: VolumeState
  /** The instance that has the volume. A deleted instance has none. */
  readonly attachedTo: { readonly uuid: string; readonly name: string } | null
  /** The path at which that instance mounts the volume. */
  readonly at: string | null
  readonly readonly: boolean
}

/**
 * Selects rows that are `VolumeRow`, those of deleted volumes included. Conditions may name `volumes` and
 * `holder`, the instance that has the volume.
 */
export function selectVolumes(db: Db) {
  return db
    .selectFrom('volumes')
    .leftJoinLateral(
      (eb) => holderOf(eb).as('holder'),
      (join) => join.onTrue(),
    )
    .select(columnsOf('volumes', inner))
    .select((eb) => {
      const use = eb
        .case()
        .when('holder.live', 'is', null)
        .then<VolumeUse>(VolumeUse.None)
        .when('holder.live', '=', true)
        .then<VolumeUse>(VolumeUse.Live)
        .else<VolumeUse>(VolumeUse.Resting)
        .end()
      return [
        use.as('use'),
        stateOf(eb.ref('phase'), use).as('state'),
        'holder.attachedTo',
        'holder.at',
        eb.fn.coalesce('holder.readonly', eb.lit(false)).as('readonly'),
      ]
    })
}

/**
 * The instance that has the volume. Only its column `at` can be null, so a null `live` means that no
 * instance has the volume. The columns have other names than those of the volume, because queries select
 * both together.
 */
function holderOf(eb: ExpressionBuilder<Tables, 'volumes'>) {
  return eb
    .selectFrom('instances')
    .whereRef('instances.volumeUuid', '=', 'volumes.uuid')
    .where('instances.deletedAt', 'is', null)
    .select((eb) => [
      isLive(eb).$castTo<boolean>().as('live'),
      jsonBuildObject({ uuid: eb.ref('instances.uuid'), name: eb.ref('instances.name') }).as('attachedTo'),
      'instances.volumeAt as at',
      'instances.volumeReadonly as readonly',
    ])
}

/**
 * The state for each phase and use. The values come from the domain's function, so there is no second copy
 * of its rules.
 */
const states = Object.fromEntries(
  Object.values(VolumePhase).map((phase) => [
    phase,
    Object.fromEntries(Object.values(VolumeUse).map((use) => [use, volumeState(phase, use)])),
  ]),
)

function stateOf(phase: Expression<VolumePhase>, use: Expression<VolumeUse>) {
  const eb = expressionBuilder<Tables>()
  return eb.fn<VolumeState>('jsonb_extract_path_text', [eb.cast(eb.val(json(states)), 'jsonb'), phase, use])
}

/** The row as the transaction left it, also that of a deleted volume. Undefined if there is no such row. */
export async function readVolume(db: Db, uuid: string): Promise<VolumeRow | undefined> {
  return selectVolumes(db).where('volumes.uuid', '=', uuid).executeTakeFirst()
}
