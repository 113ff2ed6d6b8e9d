import type { getHosts } from '../../contract/host/operations.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { hostEntries } from './objects.ts'
import { presentHost } from './view.ts'

/** The status of the named hosts, or of all; if of all, the entries have no `status` of their own. */
export function hostsStatus(deps: ApiDeps): Handler<typeof getHosts> {
  return async ({ objects }, call) => {
    const status = objects.length === 0 ? {} : ({ status: 'success' } as const)
    return {
      entries: await hostEntries(deps, call, objects, (host) => ({ ...status, ...presentHost(host) })),
    }
  }
}
