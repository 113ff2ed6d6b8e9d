import { markWorkflowStarted } from '../../db/instance/records.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { workflowSettings } from '../../db/instance/settings.ts'
import { span } from '../../primitives/spans.ts'
import { boundedMap } from '../bounded-map.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { wasTold } from '../told-workflow.ts'

/** How many workflow starts one request may have under way. */
const maxConcurrent = 10

/**
 * Starts the workflows of new instances. If Temporal does not answer, the instances exist all the same, and
 * the sweep starts their workflows.
 */
export async function startInstanceWorkflows(
  deps: ApiDeps,
  call: Call,
  rows: readonly InstanceRow[],
): Promise<void> {
  const started = await boundedMap(rows, maxConcurrent, async (row) => {
    const started = () => deps.control.ensureStarted({ ...workflowSettings(row), asker: call.asker })
    const told = await wasTold(span(row.uuid, 'api: start of the workflow', started), call, {
      object: { instance: row.uuid },
      instead: 'the sweep will start the workflow',
    })
    return told ? [row.uuid] : []
  })
  await markWorkflowStarted(deps.database, started.flat())
}
