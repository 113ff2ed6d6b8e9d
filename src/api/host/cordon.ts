import type { cordonHosts } from '../../contract/host/operations.ts'
import { setUse } from '../../db/host/administration.ts'
import { HostUse } from '../../domain/host/use.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { hostEntries } from './objects.ts'
import { presentHost } from './view.ts'

/**
 * Says whether anything new is placed on the named hosts and whether they are emptied, and shows them as they
 * are then.
 */
export function hostsUse(deps: ApiDeps, use: HostUse): Handler<typeof cordonHosts> {
  return async ({ objects }, call) => {
    const found = await hostEntries(deps, call, objects, ({ node }) => node)
    for (const node of found) {
      if ('message' in node) continue
      await setUse(deps.database, node.id, use, call.asker)
      // Without this, the watch of hosts begins it a little later.
      if (use === HostUse.Draining) await deps.hostControl.lookAgain(node.id).catch(() => undefined)
      call.log.info({ host: node.id, use, asker: call.asker.name }, 'what a host may have was set')
    }
    return {
      entries: await hostEntries(deps, call, objects, (host) => ({
        status: 'success' as const,
        ...presentHost(host),
      })),
    }
  }
}
