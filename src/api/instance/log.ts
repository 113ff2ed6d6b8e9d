import type { getInstanceLogs } from '../../contract/instance/operations.ts'
import { defaultLogBytes, defaultLogOffset, maxLogBytes } from '../../contract/limits.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import type { StreamPlaces } from '../stream-places.ts'
import { failedInstance } from '../failed-entry.ts'
import { followLog } from './log-stream.ts'
import { presentLog } from './log-view.ts'
import { forEachInstance } from './objects.ts'
import { NodeUnavailable } from '../../control/host-client.ts'

/** Windows of console logs, read from the hosts that keep them, or all that one instance goes on to print. */
export function instancesLog(deps: ApiDeps, places: StreamPlaces): Handler<typeof getInstanceLogs> {
  const follow = followLog(deps, places)
  return async (request, call) => {
    if (request.query.follow === true) return await follow(request, call)
    const entries = await forEachInstance(deps, call, request.objects, async (row, parameters) => {
      const { offset = defaultLogOffset, limit = defaultLogBytes } = parameters
      try {
        const window = await deps.nodes.readLog(row, { offset, limit: Math.min(limit, maxLogBytes) })
        return presentLog(row, window)
      } catch (error) {
        if (!(error instanceof NodeUnavailable)) throw error
        call.log.warn({ err: error, instance: row.uuid }, 'the host does not answer')
        return failedInstance(row, 'hostUnreachable')
      }
    })
    return { entries }
  }
}
