import type { getInstanceMetrics } from '../../contract/instance/operations.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import { TextForm } from '../../contract/operation.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { ParsedRequest } from '../../contract/request/parsed-request.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { attachedServices } from '../../db/service/services.ts'
import { selectsText } from '../accepted-form.ts'
import type { Answer, Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedInstance } from '../failed-entry.ts'
import { metricsContentType } from '../metrics-text.ts'
import { forEachInstance, listAsHostsSay } from './objects.ts'
import { usageOf } from './usage.ts'
import { presentMetrics, presentMetricsText } from './metrics-view.ts'
import type { MeteredInstance } from './metrics-view.ts'

type Entry = OperationEntry<typeof getInstanceMetrics> | FailedEntry

/**
 * Answers with the metrics of the named instances, or of all instances. The answer is text unless JSON is
 * requested.
 */
export function instancesMetrics(deps: ApiDeps): Handler<typeof getInstanceMetrics> {
  return async (request, call) => {
    const found = await findRows(deps, call, request)
    const rows = found.flatMap((one) => ('row' in one ? one.row : []))
    const usage = await usageOf(deps, call, rows)
    const view = { nowMs: deps.nowMs(), developer: call.identity.developer }
    // The text has no place for failed objects. If there are only those, the answer is JSON, whose envelope
    // reports them.
    const onlyFailures = found.length > 0 && rows.length === 0
    if (selectsText(TextForm.Prometheus, call.accept) && !onlyFailures) {
      const services = await attachedServices(deps.database, rows)
      return asText(rows, { usage, services }, view)
    }
    const named = request.objects.length > 0
    return {
      entries: found.map((one): Entry => {
        if (!('row' in one)) return one
        const used = usage.get(one.row.uuid)
        if (used === undefined) return failedInstance(one.row, 'hostUnreachable')
        const metrics = presentMetrics({ row: one.row, usage: used }, view)
        return named ? { status: 'success', ...metrics } : metrics
      }),
    }
  }
}

type Found = { readonly row: InstanceRow } | FailedEntry

async function findRows(
  deps: ApiDeps,
  call: Call,
  { objects, page }: ParsedRequest,
): Promise<readonly Found[]> {
  if (objects.length > 0) return forEachInstance(deps, call, objects, async (row) => ({ row }))
  return (await listAsHostsSay(deps, call, { page })).map((row) => ({ row }))
}

/** The metrics as text. An instance that cannot be found has no samples in it. */
function asText(
  rows: readonly InstanceRow[],
  known: {
    readonly usage: Awaited<ReturnType<typeof usageOf>>
    readonly services: Awaited<ReturnType<typeof attachedServices>>
  },
  view: { readonly nowMs: number; readonly developer: boolean },
): Answer<typeof getInstanceMetrics> {
  const metered = rows.map((row): MeteredInstance => {
    const usage = known.usage.get(row.uuid)
    const service = known.services.get(row.serviceUuid ?? '')
    return usage === undefined ? { row, service } : { row, service, usage }
  })
  return { text: presentMetricsText(metered, view), contentType: metricsContentType }
}
