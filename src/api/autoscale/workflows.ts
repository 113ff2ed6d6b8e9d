import { markAutoscaleStarted } from '../../db/autoscale/records.ts'
import type { AutoscaleSettings } from '../../domain/autoscale/settings.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { wasTold } from '../told-workflow.ts'

type Deps = Pick<ApiDeps, 'database' | 'autoscaleControl'>

/**
 * Tells the workflow that its service is configured. If Temporal does not answer, the configuration remains
 * all the same, and the sweep starts the workflow.
 */
export async function tellConfigured(
  { database, autoscaleControl }: Deps,
  call: Call,
  settings: AutoscaleSettings,
): Promise<void> {
  if (!(await wasTold(autoscaleControl.configured(settings), call, notTold(settings)))) return
  await markAutoscaleStarted(database, [settings.serviceUuid])
}

/**
 * Makes sure that the workflow runs. If somebody terminated it, it is started again and continues with the
 * existing instances.
 */
export async function keepWatched(
  { autoscaleControl }: Pick<Deps, 'autoscaleControl'>,
  call: Call,
  settings: AutoscaleSettings,
): Promise<void> {
  await wasTold(autoscaleControl.ensureStarted(settings), call, notTold(settings))
}

/**
 * Tells the workflow that the row of its configuration is marked deleted. If this message does not reach
 * the workflow now, the sweep repeats it.
 */
export async function tellAutoscaleDeleted(
  { autoscaleControl }: Pick<Deps, 'autoscaleControl'>,
  call: Call,
  settings: AutoscaleSettings,
): Promise<void> {
  await wasTold(autoscaleControl.delete(settings), call, notTold(settings))
}

function notTold({ serviceUuid }: AutoscaleSettings) {
  return { object: { service: serviceUuid }, instead: 'the workflow of autoscale was not told' }
}
