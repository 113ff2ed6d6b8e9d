import type { SelectQueryBuilder } from 'kysely'
import type { ScaleToZero } from '../../domain/standby/scale-to-zero.ts'
import { columnsOf } from '../schema/columns.ts'
import { selectionOf } from '../sql/selection.ts'
import type { Row } from '../schema/tables.ts'
import type { SecretBox } from '../secret-box.ts'

/** Columns that readers do not get, because only the platform needs them. */
const inner = [
  'deletedAt',
  'workflowStartedAt',
  'retireDrainMs',
  'liveReservedUntil',
  'stateSince',
  'heldMemoryMb',
  'heldVcpus',
  'feedXid',
] as const satisfies readonly (keyof Row<'instances'>)[]

/** The columns of an instance that readers get. */
export const instanceColumns = columnsOf('instances', inner)

/** One instance as readers get it. The entity says what its columns mean. */
export type InstanceRow = Readonly<Omit<Row<'instances'>, (typeof inner)[number]>>

const selection = selectionOf(instanceColumns)

/** Lets a query read whole rows. The query must not be a part of a larger one; `selectionOf` says why. */
export function selectRows<DB, Table extends keyof DB>(
  query: SelectQueryBuilder<DB, Table, object>,
): SelectQueryBuilder<DB, Table, InstanceRow> {
  return query.select(selection as never).$castTo<InstanceRow>()
}

export function scaleToZeroOf(
  row: Pick<InstanceRow, 'standbyPolicy' | 'standbyCooldownMs' | 'standbyStateful'>,
): ScaleToZero {
  return { policy: row.standbyPolicy, cooldownMs: row.standbyCooldownMs, stateful: row.standbyStateful }
}

/** The environment variables of an instance, in clear. */
export function openEnv(
  box: SecretBox,
  row: Pick<InstanceRow, 'uuid' | 'envSealed'>,
): Readonly<Record<string, string>> {
  return JSON.parse(box.open(row.envSealed, envContext(row.uuid))) as Record<string, string>
}

export function sealEnv(box: SecretBox, uuid: string, env: Readonly<Record<string, string>>): string {
  return box.seal(JSON.stringify(env), envContext(uuid))
}

function envContext(uuid: string): string {
  return `instance-env/${uuid}`
}
