import { problem } from '../../contract/errors.ts'
import type { deleteServices } from '../../contract/service/operations.ts'
import { deleteService } from '../../db/service/services.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { failedService, forEachService, serviceKind } from './objects.ts'

/** Deletes services that have no instances. When the answer comes, their domains can be used again. */
export function servicesDelete(deps: ApiDeps): Handler<typeof deleteServices> {
  return async ({ objects }, call) => {
    const entries = await forEachService(deps, call, objects, async ({ uuid, name }) => {
      const outcome = await deleteService(deps.database, call.identity.userUuid, uuid, call.asker)
      if (outcome === 'not-found') return missingEntry(serviceKind, { by: 'uuid', value: uuid })
      if (outcome === 'deleted') return { status: 'success' as const, uuid, name }
      return failedService({ uuid, name }, problem('serviceAttached', { name }))
    })
    return { entries }
  }
}
