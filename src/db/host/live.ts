import type { ExpressionBuilder } from 'kysely'
import { nodeSilentAfterMs } from '../../domain/host/api-protocol.ts'
import type { Tables } from '../schema/tables.ts'
import { ago } from '../sql/time.ts'

/**
 * Whether the host was heard lately and is not lost. A lost host that is heard again is clearing up first.
 */
export function isLive(eb: ExpressionBuilder<Tables, 'nodes'>) {
  return eb.and([eb('nodes.heartbeatAt', '>', ago(nodeSilentAfterMs)), eb('nodes.lostAt', 'is', null)])
}
