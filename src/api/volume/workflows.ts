import { markVolumeWorkflowStarted } from '../../db/volume/records.ts'
import type { VolumeRow } from '../../db/volume/row.ts'
import { volumeSettings } from '../../db/volume/settings.ts'
import { boundedMap } from '../bounded-map.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { wasTold } from '../told-workflow.ts'

/** How many workflow starts one request may have under way. */
const maxConcurrentStarts = 10

type Deps = Pick<ApiDeps, 'database' | 'volumeControl'>

/**
 * Starts the workflows of new volumes, and returns the UUIDs of those that were started. If Temporal does not
 * answer, the volumes exist all the same, and the sweep starts the rest.
 */
export async function startVolumeWorkflows(
  { database, volumeControl }: Deps,
  call: Call,
  rows: readonly VolumeRow[],
): Promise<readonly string[]> {
  const started = await boundedMap(rows, maxConcurrentStarts, async (row) => {
    const told = volumeControl.ensureStarted(volumeSettings(row))
    return (await wasTold(told, call, notTold(row))) ? [row.uuid] : []
  })
  const uuids = started.flat()
  await markVolumeWorkflowStarted(database, uuids)
  return uuids
}

/**
 * Tells the workflow that the volume's row is marked deleted. If this message does not reach the workflow
 * now, the sweep repeats it.
 */
export async function tellVolumeDeleted({ volumeControl }: Deps, call: Call, row: VolumeRow): Promise<void> {
  await wasTold(volumeControl.delete(volumeSettings(row)), call, notTold(row))
}

function notTold({ uuid }: VolumeRow) {
  return { object: { volume: uuid }, instead: 'the sweep will tell the workflow of the volume' }
}
