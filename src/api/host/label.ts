import type { FailedEntry } from '../../contract/envelope.ts'
import { problem } from '../../contract/errors.ts'
import type { labelHosts } from '../../contract/host/operations.ts'
import { changeLabels } from '../../db/host/labels.ts'
import { maxHostLabels } from '../../domain/host/labels.ts'
import type { LabelChange } from '../../domain/host/labels.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { unmadeEntry } from '../failed-entry.ts'
import { hostEntries } from './objects.ts'
import { presentHost } from './view.ts'

/** Changes the labels of hosts, and shows each host as it is then. */
export function hostsLabel(deps: ApiDeps): Handler<typeof labelHosts> {
  return async ({ objects }, call) => {
    const entries = []
    for (const object of objects) {
      const [found] = await hostEntries(deps, call, [object], ({ node }) => node)
      if (found === undefined) continue
      const failed = 'message' in found ? found : await label(deps, call, found.id, object.parameters)
      if (failed !== undefined) entries.push(failed)
      else
        entries.push(
          ...(await hostEntries(deps, call, [object], (host) => ({
            status: 'success' as const,
            ...presentHost(host),
          }))),
        )
    }
    return { entries }
  }
}

/** Undefined if the labels were changed. */
async function label(
  deps: ApiDeps,
  call: Call,
  host: string,
  change: LabelChange,
): Promise<FailedEntry | undefined> {
  if (!(await changeLabels(deps.database, host, change))) {
    return unmadeEntry(problem('tooManyHostLabels', { name: host, limit: maxHostLabels }), host)
  }
  // No event tells of it, only this line.
  call.log.info({ host, ...change, asker: call.asker.name }, 'the labels of a host were changed')
  return undefined
}
