import type { listInstances as operation } from '../../contract/instance-operations.ts'
import { listInstanceNames } from '../../db/instances.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { pageFilter } from '../instance-objects.ts'

/** Names of instances, in any of the states that the filters give. A filter without a state lets everything pass. */
export function instancesList(deps: ApiDeps): Handler<typeof operation> {
  return async ({ objects, page }, call) => {
    const wanted = objects.map((filter) => filter.parameters.state)
    const states = wanted.filter((state) => state !== undefined)
    const filter = await pageFilter(deps, call, page)
    const rows = await listInstanceNames(deps.database, call.identity.userUuid, {
      ...filter,
      ...(states.length > 0 && states.length === wanted.length ? { states } : {}),
    })
    return { entries: rows.map(({ uuid, name }) => ({ uuid, name })) }
  }
}
