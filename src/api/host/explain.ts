import type { explainHosts } from '../../contract/host/operations.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { hostEntries } from './objects.ts'
import { presentExplanation } from './view.ts'

/** Whether hosts are heard, what they have, and what that means. */
export function hostsExplain(deps: ApiDeps): Handler<typeof explainHosts> {
  return async ({ objects }, call) => ({
    entries: await hostEntries(deps, call, objects, presentExplanation),
  })
}
