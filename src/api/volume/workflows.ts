import { ControlUnavailable } from '../../control/control-unavailable.ts'
import { markVolumeWorkflowStarted } from '../../db/volume/records.ts'
import type { VolumeRow } from '../../db/volume/row.ts'
import { volumeSettings } from '../../db/volume/settings.ts'
import { boundedMap } from '../bounded-map.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'

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
    return (await wasTold(told, call, row)) ? [row.uuid] : []
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
  await wasTold(volumeControl.delete(volumeSettings(row)), call, row)
}

async function wasTold(telling: Promise<void>, call: Call, { uuid }: VolumeRow): Promise<boolean> {
  try {
    await telling
    return true
  } catch (error) {
    if (!(error instanceof ControlUnavailable)) throw error
    call.log.warn(
      { err: error, volume: uuid },
      'Temporal or the worker does not answer: the sweep will tell the workflow of the volume',
    )
    return false
  }
}
