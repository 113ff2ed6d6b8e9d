import type { getAutoscale } from '../../contract/autoscale/operations.ts'
import { findAutoscale } from '../../db/autoscale/configurations.ts'
import type { ServiceRow } from '../../db/service/row.ts'
import { listServices } from '../../db/service/services.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { presentAutoscale } from './view.ts'
import { forEachService, servicePage } from '../service/objects.ts'

/** The autoscale configurations of the named services, or of all services. */
export function autoscaleStatus(deps: ApiDeps): Handler<typeof getAutoscale> {
  return async ({ objects, page }, call) => {
    const { userUuid } = call.identity
    const presenter = async (rows: readonly ServiceRow[]) => {
      const uuids = rows.map(({ uuid }) => uuid)
      const configured = await findAutoscale(deps.database, userUuid, uuids)
      return (row: ServiceRow) => presentAutoscale(row, configured.get(row.uuid))
    }
    if (objects.length === 0) {
      const rows = await listServices(deps.database, call.identity, await servicePage(deps, call, page))
      return { entries: rows.map(await presenter(rows)) }
    }
    const found = await forEachService(deps, call, objects, async (row) => ({ row }))
    const present = await presenter(found.flatMap((one) => ('row' in one ? one.row : [])))
    return { entries: found.map((one) => ('row' in one ? present(one.row) : one)) }
  }
}
