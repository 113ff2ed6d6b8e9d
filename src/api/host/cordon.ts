import type { cordonHosts } from '../../contract/host/operations.ts'
import { setCordon } from '../../db/host/administration.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { hostEntries } from './objects.ts'
import { presentHost } from './view.ts'

/** Permits or forbids to place anything new on the named hosts, and shows them as they are then. */
export function hostsCordon(deps: ApiDeps, isCordoned: boolean): Handler<typeof cordonHosts> {
  return async ({ objects }, call) => {
    const found = await hostEntries(deps, call, objects, ({ node }) => node)
    for (const node of found) {
      if ('message' in node) continue
      await setCordon(deps.database, node.id, isCordoned)
      // No event tells of hosts, because events belong to accounts.
      call.log.info({ host: node.id, isCordoned, asker: call.asker.name }, 'the cordon of a host was set')
    }
    return {
      entries: await hostEntries(deps, call, objects, (host) => ({
        status: 'success' as const,
        ...presentHost(host),
      })),
    }
  }
}
