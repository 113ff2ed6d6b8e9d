import { markRolloutStarted } from '../../db/rollout/records.ts'
import type { RolloutRow } from '../../db/rollout/row.ts'
import type { ServiceRow } from '../../db/service/row.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { wasTold } from '../told-workflow.ts'

/** Starts the workflow of a new rollout. If Temporal does not answer, the sweep starts it. */
export async function startRollout(
  deps: ApiDeps,
  call: Call,
  { rollout, service }: { readonly rollout: RolloutRow; readonly service: Pick<ServiceRow, 'name'> },
): Promise<void> {
  const { uuid, userUuid } = rollout
  const settings = { rolloutUuid: uuid, serviceName: service.name, userUuid }
  const told = await wasTold(deps.rolloutControl.ensureStarted(settings), call, {
    object: { rollout: uuid },
    instead: 'the sweep will start the workflow',
  })
  if (told) await markRolloutStarted(deps.database, [uuid])
}

/** Has the workflow look at what was written. If Temporal does not answer, it looks by itself a bit later. */
export async function tellRecalled(deps: ApiDeps, call: Call, { uuid }: RolloutRow): Promise<void> {
  await wasTold(deps.rolloutControl.lookAgain(uuid), call, {
    object: { rollout: uuid },
    instead: 'the workflow will look by itself',
  })
}
