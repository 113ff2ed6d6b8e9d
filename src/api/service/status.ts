import type { getServices } from '../../contract/service/operations.ts'
import type { ServiceRow } from '../../db/service/row.ts'
import { listServices } from '../../db/service/services.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { presentService } from './view.ts'
import { forEachService, servicePage } from './objects.ts'

/** The status of the named services, or of all; if of all, the entries have no `status` of their own. */
export function servicesStatus(deps: ApiDeps): Handler<typeof getServices> {
  return async ({ objects, query, page }, call) => {
    const present = query.details === false ? presentIdentity : presentService
    if (objects.length === 0) {
      const filter = await servicePage(deps, call, page)
      const rows = await listServices(deps.database, call.identity, filter)
      return { entries: rows.map(present) }
    }
    const entries = await forEachService(deps, call, objects, async (row) => ({
      status: 'success' as const,
      ...present(row),
    }))
    return { entries }
  }
}

function presentIdentity({ uuid, name }: ServiceRow) {
  return { uuid, name }
}
