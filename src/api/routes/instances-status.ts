import type { getInstances } from '../../contract/instance-operations.ts'
import { listInstances } from '../../db/instances.ts'
import { openEnv } from '../../db/instance-row.ts'
import type { InstanceRow } from '../../db/instance-row.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { forEachInstance, pageFilter } from '../instance-objects.ts'
import { usageOf } from '../instance-usage.ts'
import { presentInstance } from '../present/instance.ts'

/** Status of the named instances, or of all; then the entries have no `status` of their own. */
export function instancesStatus(deps: ApiDeps): Handler<typeof getInstances> {
  return async ({ objects, query, page }, call) => {
    const { details = true, metrics = false } = query
    if (objects.length === 0) {
      const rows = await listInstances(
        deps.database,
        call.identity.userUuid,
        await pageFilter(deps, call, page),
      )
      const present = await presenter(deps, call, { rows, details, metrics })
      return { entries: rows.map(present) }
    }
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
  const usage = metrics ? await usageOf(deps, call, rows) : undefined
  const view = { developer: call.identity.developer, nowMs: deps.nowMs() }
  return (row: InstanceRow) => {
    const used = usage?.get(row.uuid)
    const env = openEnv(deps.secretBox, row)
    return presentInstance(row, { ...view, env, ...(used === undefined ? {} : { usage: used }) })
  }
}
