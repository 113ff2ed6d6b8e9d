import type { deleteInstances } from '../../contract/instance/operations.ts'
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
import { wasTold } from '../told-workflow.ts'
import { missingEntry } from '../failed-entry.ts'
import { forEachInstance } from './objects.ts'
import { tellVolumeDeleted } from '../volume/workflows.ts'

/** How many clones' workflows are told at the same time when a master is deleted. */
const maxConcurrentClones = 10

/**
 * Marks instances as deleted. From then on their users no longer see them. The workflow of each hears of
 * that now or at the next sweep, and cleans the host.
 */
export function instancesDelete(deps: ApiDeps): Handler<typeof deleteInstances> {
  return async ({ objects }, call) => {
    const entries = await forEachInstance(deps, call, objects, async (row) => {
      const marked = await markDeleted(deps.database, call.identity.userUuid, row.uuid, call.asker)
      if (marked === undefined) {
        // If the instance is a clone, it was deleted with its master since the request began. The same
        // request may name both.
        return row.cloneOf === null ? missingEntry('instance', { by: 'uuid', value: row.uuid }) : deleted(row)
      }
      // This is read before the workflow is told, because the workflow removes the row that says whose master
      // it was.
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

/**
 * Tells the workflow of a volume to delete it, if the volume was made with the instance and is deleted with
 * it.
 */
async function tellVolume(deps: ApiDeps, call: Call, { volumeUuid }: InstanceRow): Promise<void> {
  const volume = volumeUuid === null ? undefined : await findDeletedVolume(deps.database, volumeUuid)
  if (volume !== undefined) await tellVolumeDeleted(deps, call, volume)
}

/**
 * Tells the workflows of all autoscale configurations that had the instance as their master, and the
 * workflows of all their clones.
 */
async function tellClones(
  deps: ApiDeps,
  call: Call,
  { configurations, clones }: GoneWithMaster,
): Promise<void> {
  for (const settings of configurations) await tellAutoscaleDeleted(deps, call, settings)
  await boundedMap(clones, maxConcurrentClones, (settings) => tellWorkflow(deps, call, settings))
}

async function tellWorkflow(deps: ApiDeps, call: Call, settings: InstanceSettings): Promise<void> {
  await wasTold(deps.control.delete(settings), call, {
    object: { instance: settings.instanceUuid },
    instead: 'the sweep will clean up after the instance',
  })
}
