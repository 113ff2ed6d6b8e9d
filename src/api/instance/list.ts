import type { listInstances as operation } from '../../contract/instance/operations.ts'
import { listInstanceNames } from '../../db/instance/instances.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { statesByHosts } from './awake.ts'
import { pageFilter } from './objects.ts'

/**
 * The names of instances that are in any of the states in the filters. A filter without a state matches all
 * instances.
 */
export function instancesList(deps: ApiDeps): Handler<typeof operation> {
  return async ({ objects, page }, call) => {
    const wanted = objects.map((filter) => filter.parameters.state)
    const states = wanted.filter((state) => state !== undefined)
    const filter = await pageFilter(deps, call, page)
    const byState = states.length > 0 && states.length === wanted.length
    const entries = await listInstanceNames(deps.database, call.identity, {
      ...filter,
      ...(byState ? { states, insteadOfRows: await statesByHosts(deps, call) } : {}),
    })
    return { entries }
  }
}
