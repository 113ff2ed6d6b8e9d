import type { getInstanceLogs } from '../../contract/instance/operations.ts'
import { defaultLogBytes, defaultLogOffset, maxLogBytes } from '../../contract/limits.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedInstance } from '../failed-entry.ts'
import { forEachInstance } from './objects.ts'
import { NodeUnavailable } from '../../control/host-client.ts'

/** Windows of console logs, read from the hosts that keep them. */
export function instancesLog(deps: ApiDeps): Handler<typeof getInstanceLogs> {
  return async ({ objects }, call) => {
    const entries = await forEachInstance(deps, call, objects, async (row, parameters) => {
      const { offset = defaultLogOffset, limit = defaultLogBytes } = parameters
      try {
        const window = await deps.nodes.readLog(row, { offset, limit: Math.min(limit, maxLogBytes) })
        return {
          status: 'success' as const,
          uuid: row.uuid,
          name: row.name,
          output: window.outputBase64,
          available: { start: window.availableStart, end: window.availableEnd },
          range: { start: window.rangeStart, end: window.rangeEnd },
        }
      } catch (error) {
        if (!(error instanceof NodeUnavailable)) throw error
        call.log.warn({ err: error, instance: row.uuid }, 'the host does not answer')
        return failedInstance(row, 'hostUnreachable')
      }
    })
    return { entries }
  }
}
