import { ControlUnavailable } from '../../control/control-unavailable.ts'
import { markAutoscaleStarted } from '../../db/autoscale/records.ts'
import type { AutoscaleSettings } from '../../domain/autoscale/settings.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'

type Deps = Pick<ApiDeps, 'database' | 'autoscaleControl'>

/** Where Temporal does not answer, the service is configured all the same: the sweep starts its workflow. */
export async function tellConfigured(
  { database, autoscaleControl }: Deps,
  call: Call,
  settings: AutoscaleSettings,
): Promise<void> {
  if (!(await wasTold(autoscaleControl.configured(settings), call, settings))) return
  await markAutoscaleStarted(database, [settings.serviceUuid])
}

/**
 * The workflow runs already, unless somebody terminated it: then it goes on with the instances that there
 * are.
 */
export async function keepWatched(
  { autoscaleControl }: Pick<Deps, 'autoscaleControl'>,
  call: Call,
  settings: AutoscaleSettings,
): Promise<void> {
  await wasTold(autoscaleControl.ensureStarted(settings), call, settings)
}

/**
 * Of a configuration whose row is marked deleted; what does not reach its workflow now is repeated by the
 * sweep.
 */
export async function tellAutoscaleDeleted(
  { autoscaleControl }: Pick<Deps, 'autoscaleControl'>,
  call: Call,
  settings: AutoscaleSettings,
): Promise<void> {
  await wasTold(autoscaleControl.delete(settings), call, settings)
}

async function wasTold(
  telling: Promise<void>,
  call: Call,
  { serviceUuid }: AutoscaleSettings,
): Promise<boolean> {
  try {
    await telling
    return true
  } catch (error) {
    if (!(error instanceof ControlUnavailable)) throw error
    call.log.warn({ err: error, service: serviceUuid }, 'the workflow of autoscale was not told yet')
    return false
  }
}
