import type { FailedEntry } from '../../contract/envelope.ts'
import { problem } from '../../contract/errors.ts'
import type { deleteHosts } from '../../contract/host/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { removeNode } from '../../db/host/administration.ts'
import type { NodeOverview, NodeRefusal } from '../../db/host/administration.ts'
import { awaitedHosts, joinedMachines, removeJoinedHost } from '../../db/host/joining.ts'
import { removeAsLost } from '../../db/host/loss.ts'
import { nodeSilentAfterMs } from '../../domain/host/api-protocol.ts'
import { removalWords } from '../../domain/host/loss-words.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { unmadeEntry } from '../failed-entry.ts'
import { hostEntries } from './objects.ts'

type Entry = OperationEntry<typeof deleteHosts> | FailedEntry

/**
 * Removes hosts. One that joined need not be silent, because nothing accepts its certificate afterwards. An
 * id that was only invited, or whose machine was never heard of, is taken back. One that is lost may have
 * instances and volumes; its workflow forgets it once nothing is on it.
 */
export function hostsDelete(deps: ApiDeps): Handler<typeof deleteHosts> {
  return async ({ objects }, call) => {
    const awaited = call.identity.admin ? await awaitedHosts(deps.database) : new Set<string>()
    const joined = new Set([...awaited, ...(await joinedMachines(deps.database)).keys()])
    const entries: Entry[] = []
    const hosts = await hostEntries(deps, call, objects, ({ node }, object) => ({
      ...node,
      isLost: object?.parameters.lost === true || node.removedAt !== null,
    }))
    for (const found of hosts) {
      if ('message' in found && !awaited.has(found.name ?? '')) {
        entries.push(found)
        continue
      }
      if (!('message' in found) && found.isLost) {
        entries.push(await removeLost(deps, call, found))
        continue
      }
      const id = 'message' in found ? (found.name ?? '') : found.id
      const removed = joined.has(id)
        ? await removeJoinedHost(deps.database, id)
        : await removeNode(deps.database, id)
      if (removed.ok) call.log.info({ host: id, asker: call.asker.name }, 'a host was removed')
      entries.push(removed.ok ? { status: 'success', name: id } : refusedEntry(id, removed.refusal))
    }
    return { entries }
  }
}

/**
 * Declares the host lost and locks it out. If its workflow can not be started now, the watch of terms starts
 * it, as for every host that is lost.
 */
async function removeLost(deps: ApiDeps, call: Call, { id }: NodeOverview): Promise<Entry> {
  const host = await removeAsLost(deps.database, id, call.asker)
  if (host === undefined) return refusedEntry(id, 'unknown')
  const { moving, staying, volumes } = host
  const termMs = host.termMs ?? undefined
  call.log.warn(
    { host: id, asker: call.asker.name, moving, staying, volumes },
    'a host was removed as lost: its instances begin on other hosts',
  )
  await deps.hostControl.lookAgain(id).catch((error: unknown) => {
    call.log.warn({ err: error, host: id }, 'the workflow of a lost host could not be started yet')
  })
  const lost = {
    moving,
    waiting: staying,
    volumes,
    ...(termMs !== undefined && { term_ms: termMs }),
    text: removalWords({ id, moving, staying, volumes, termMs }),
  }
  return { status: 'success', name: id, lost }
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
