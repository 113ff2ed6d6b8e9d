import type { listServices } from '../../contract/service/operations.ts'
import { listServiceNames } from '../../db/service/services.ts'
import { lookedUpDomain } from '../../domain/service/domain-name.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { servicePage } from './objects.ts'

/** The names of services that match everything in one of the filters. */
export function servicesList(deps: ApiDeps): Handler<typeof listServices> {
  return async ({ objects, page }, call) => {
    const filters = objects.map(({ parameters: { persistent, fqdn } }) => ({
      ...(persistent === undefined ? {} : { persistent }),
      ...(fqdn === undefined ? {} : { fqdn: lookedUpDomain(fqdn) }),
    }))
    const filter = { ...(await servicePage(deps, call, page)), filters }
    const rows = await listServiceNames(deps.database, call.identity, filter)
    return { entries: rows.map(({ uuid, name }) => ({ uuid, name })) }
  }
}
