import type { deleteInstances } from '../../contract/instance/operations.ts'
import { ControlUnavailable } from '../../control/control-unavailable.ts'
import { markDeleted } from '../../db/instance/instances.ts'
import { findGoneWithMaster } from '../../db/autoscale/masters.ts'
import type { GoneWithMaster } from '../../db/autoscale/masters.ts'
import { findDeletedVolume } from '../../db/volume/volumes.ts'
import { workflowSettings } from '../../db/instance/settings.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import type { InstanceSettings } from '../../domain/instance/settings.ts'
import { tellAutoscaleDeleted } from '../autoscale/workflows.ts'
import { stateBefore } from './awake.ts'
import { boundedMap } from '../bounded-map.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { forEachInstance } from './objects.ts'
import { tellVolumeDeleted } from '../volume/workflows.ts'

/** Workflows of clones that the delete of one master tells at a time. */
const maxConcurrentClones = 10

/**
 * From the mark on nobody sees the instance any more; its workflow, now or at the next sweep, cleans the
 * host.
 */
export function instancesDelete(deps: ApiDeps): Handler<typeof deleteInstances> {
  return async ({ objects }, call) => {
    const entries = await forEachInstance(deps, call, objects, async (row) => {
      const marked = await markDeleted(deps.database, call.identity.userUuid, row.uuid)
      if (marked === undefined) {
        // A clone that was there when the request began went with its master, which the same request may name
        // as well.
        return row.cloneOf === null ? missingEntry('instance', { by: 'uuid', value: row.uuid }) : deleted(row)
      }
      // Read before the workflow hears of it, which removes the row that tells whose master it was.
      const gone = await findGoneWithMaster(deps.database, marked)
      await tellWorkflow(deps, call, workflowSettings(marked))
      await tellVolume(deps, call, marked)
      await tellClones(deps, call, gone)
      return deleted({ ...marked, state: stateBefore(marked.state, row) })
    })
    return { entries }
  }
}

function deleted({ uuid, name, state }: InstanceRow) {
  return { status: 'success' as const, uuid, name, previous_state: state }
}

/** Of the volume that was made with the instance and went with it. */
async function tellVolume(deps: ApiDeps, call: Call, { volumeUuid }: InstanceRow): Promise<void> {
  const volume = volumeUuid === null ? undefined : await findDeletedVolume(deps.database, volumeUuid)
  if (volume !== undefined) await tellVolumeDeleted(deps, call, volume)
}

/** Of the configuration that it was the master of, and of all that autoscale made of it. */
async function tellClones(
  deps: ApiDeps,
  call: Call,
  { configurations, clones }: GoneWithMaster,
): Promise<void> {
  for (const settings of configurations) await tellAutoscaleDeleted(deps, call, settings)
  await boundedMap(clones, maxConcurrentClones, (settings) => tellWorkflow(deps, call, settings))
}

async function tellWorkflow(deps: ApiDeps, call: Call, settings: InstanceSettings): Promise<void> {
  try {
    await deps.control.delete(settings)
  } catch (error) {
    if (!(error instanceof ControlUnavailable)) throw error
    const { instanceUuid: instance } = settings
    call.log.warn({ err: error, instance }, 'the sweep will clean up after the instance')
  }
}
