import { ControlUnavailable } from '../../control/control-unavailable.ts'
import { markAutoscaleStarted } from '../../db/autoscale/records.ts'
import type { AutoscaleSettings } from '../../domain/autoscale/settings.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'

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
  if (!(await wasTold(autoscaleControl.configured(settings), call, settings))) return
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
  await wasTold(autoscaleControl.ensureStarted(settings), call, settings)
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
    call.log.warn(
      { err: error, service: serviceUuid },
      'Temporal or the worker does not answer: the workflow of autoscale was not told',
    )
    return false
  }
}
