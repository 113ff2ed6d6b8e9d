import { requestError } from '../../contract/errors.ts'
import { getInstances } from '../../contract/instance/operations.ts'
import { openEnv } from '../../db/instance/row.ts'
import { mastersOf } from '../../db/autoscale/masters.ts'
import { attachedServices } from '../../db/service/services.ts'
import { attachedVolumes } from '../../db/volume/volumes.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { forEachInstance, listAsHostsSay } from './objects.ts'
import { usageOf } from './usage.ts'
import { presentInstance } from './view.ts'

const { place } = getInstances

/** The status of the named instances, or of all; if of all, the entries have no `status` of their own. */
export function instancesStatus(deps: ApiDeps): Handler<typeof getInstances> {
  return async ({ objects, query, page }, call) => {
    const { details = true, metrics = false, tags } = query
    if (objects.length === 0) {
      const rows = await listAsHostsSay(deps, call, { page, ...(tags && { tags }) })
      const present = await presenter(deps, call, { rows, details, metrics })
      return { entries: rows.map(present) }
    }
    if (tags !== undefined) throw requestError('notBoth', { name: 'tags', other: 'identifiers', place })
    const rows: InstanceRow[] = []
    const entries = await forEachInstance(deps, call, objects, async (row) => {
      rows.push(row)
      return { found: row }
    })
    const present = await presenter(deps, call, { rows, details, metrics })
    return {
      entries: entries.map((entry) =>
        'found' in entry ? { status: 'success' as const, ...present(entry.found) } : entry,
      ),
    }
  }
}

async function presenter(
  deps: ApiDeps,
  call: Call,
  { rows, details, metrics }: { rows: readonly InstanceRow[]; details: boolean; metrics: boolean },
) {
  if (!details) return (row: InstanceRow) => ({ uuid: row.uuid, name: row.name })
  const services = await attachedServices(deps.database, rows)
  const volumes = await attachedVolumes(deps.database, rows)
  const masters = await mastersOf(deps.database, rows)
  const usage = metrics ? await usageOf(deps, call, rows) : undefined
  const { developer, admin } = call.identity
  const view = { developer, admin, nowMs: deps.nowMs() }
  return (row: InstanceRow) => {
    const used = usage?.get(row.uuid)
    const env = openEnv(deps.secretBox, row)
    const service = services.get(row.serviceUuid ?? '')
    const volume = volumes.get(row.volumeUuid ?? '')
    const master = masters.get(row.cloneOf ?? '')
    return presentInstance(row, {
      ...view,
      env,
      ...(service === undefined ? {} : { service }),
      ...(volume === undefined ? {} : { volume }),
      ...(master === undefined ? {} : { master }),
      ...(used === undefined ? {} : { usage: used }),
    })
  }
}
