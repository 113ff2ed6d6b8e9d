import type { FailedEntry } from '../../contract/envelope.ts'
import { problem } from '../../contract/errors.ts'
import type { deleteHosts } from '../../contract/host/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { removeNode } from '../../db/host/administration.ts'
import type { NodeRefusal } from '../../db/host/administration.ts'
import { awaitedHosts, joinedMachines, removeJoinedHost } from '../../db/host/joining.ts'
import { nodeSilentAfterMs } from '../../domain/host/api-protocol.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { unmadeEntry } from '../failed-entry.ts'
import { hostEntries } from './objects.ts'

type Entry = OperationEntry<typeof deleteHosts> | FailedEntry

/**
 * Removes hosts. One that joined need not be silent, because nothing accepts its certificate afterwards. An
 * id that was only invited, or whose machine was never heard of, is taken back.
 */
export function hostsDelete(deps: ApiDeps): Handler<typeof deleteHosts> {
  return async ({ objects }, call) => {
    const found = await hostEntries(deps, call, objects, ({ node }) => ({ id: node.id }))
    const awaited = call.identity.admin ? await awaitedHosts(deps.database) : new Set<string>()
    const joined = new Set([...awaited, ...(await joinedMachines(deps.database)).keys()])
    const entries: Entry[] = []
    for (const host of found) {
      const id = 'message' in host ? (host.name ?? '') : host.id
      if ('message' in host && !awaited.has(id)) {
        entries.push(host)
        continue
      }
      const removed = joined.has(id)
        ? await removeJoinedHost(deps.database, id)
        : await removeNode(deps.database, id)
      if (removed.ok) call.log.info({ host: id, asker: call.asker.name }, 'a host was removed')
      entries.push(removed.ok ? { status: 'success', name: id } : refusedEntry(id, removed.refusal))
    }
    return { entries }
  }
}

const refusals = {
  unknown: 'notFound',
  live: 'hostLive',
  'has-instances': 'hostHasInstances',
  'has-volumes': 'hostHasVolumes',
} as const satisfies Record<NodeRefusal, string>

function refusedEntry(name: string, refusal: NodeRefusal): FailedEntry {
  const values = { name, kind: 'host', by: 'name', value: name, seconds: nodeSilentAfterMs / 1_000 }
  return unmadeEntry(problem(refusals[refusal], values), name)
}
