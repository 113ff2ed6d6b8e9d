import type { deleteInstances } from '../../contract/instance-operations.ts'
import { ControlUnavailable } from '../../control/instance-control.ts'
import { markDeleted } from '../../db/instances.ts'
import { workflowSettings } from '../../db/workflow-settings.ts'
import type { InstanceRow } from '../../db/instance-row.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { forEachInstance } from '../instance-objects.ts'

/** From the mark on nobody sees the instance any more; its workflow, now or at the next sweep, cleans the host. */
export function instancesDelete(deps: ApiDeps): Handler<typeof deleteInstances> {
  return async ({ objects }, call) => {
    const entries = await forEachInstance(deps, call, objects, async (row) => {
      const marked = await markDeleted(deps.database, call.identity.userUuid, row.uuid)
      if (marked === undefined) return missingEntry('instance', { by: 'uuid', value: row.uuid })
      await tellWorkflow(deps, call, marked)
      return { status: 'success' as const, uuid: row.uuid, name: row.name, previous_state: marked.state }
    })
    return { entries }
  }
}

async function tellWorkflow(deps: ApiDeps, call: Call, row: InstanceRow): Promise<void> {
  try {
    await deps.control.delete(workflowSettings(row))
  } catch (error) {
    if (!(error instanceof ControlUnavailable)) throw error
    call.log.warn({ err: error, instance: row.uuid }, 'the sweep will clean up after the instance')
  }
}
