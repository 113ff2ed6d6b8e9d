import { RequestError } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import { keptRollouts } from '../../contract/limits.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { createRollouts } from '../../contract/rollout/operations.ts'
import { findByUuids } from '../../db/instance/instances.ts'
import { Refused } from '../../db/refused.ts'
import { createRollout } from '../../db/rollout/create.ts'
import type { ServiceRow } from '../../db/service/row.ts'
import { findServices } from '../../db/service/services.ts'
import type { InstanceConfiguration } from '../../domain/instance/change.ts'
import { boundedMap } from '../bounded-map.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { changedConfiguration, imageToFind } from '../instance/changed-configuration.ts'
import type { WantedChange } from '../instance/changed-configuration.ts'
import { findImage } from '../instance/find-image.ts'
import { startInstanceWorkflows } from '../instance/workflows.ts'
import { failedService, forEachService, serviceKind } from '../service/objects.ts'
import { writeRefusalProblem } from '../write-refusal.ts'
import { planOf, rolloutProblems } from './plan.ts'
import type { RolloutBody } from './plan.ts'
import { startRollout } from './telling.ts'
import { presentRollout } from './view.ts'

type Entry = OperationEntry<typeof createRollouts> | FailedEntry

/** How many requests to the registry one rollout may have under way. */
const maxConcurrent = 10

/** Begins a rollout of each service. */
export function rolloutsCreate(deps: ApiDeps): Handler<typeof createRollouts> {
  return async ({ objects }, call) => {
    const problems = objects.flatMap(({ parameters }) => rolloutProblems(parameters))
    if (problems.length > 0) throw new RequestError(problems)
    const entries = await forEachService(deps, call, objects, async (service, body): Promise<Entry> => {
      const entry = await createOne(deps, call, { service, body })
      return body.id === undefined ? entry : { ...entry, id: body.id }
    })
    return { entries }
  }
}

async function createOne(
  deps: ApiDeps,
  call: Call,
  { service, body }: { readonly service: ServiceRow; readonly body: RolloutBody },
): Promise<Entry> {
  const changes = await changesByImage(deps, call, { service, body })
  if ('message' in changes) return failedService(service, changes)
  const apply = (now: InstanceConfiguration): InstanceConfiguration => {
    const change = changes.get(now.image)
    // The instance was changed between the look-up of its image and the lock.
    if (change === undefined) throw new Refused({ kind: 'image-changed', name: service.name })
    return changedConfiguration(now, [change])
  }
  const outcome = await createRollout(
    deps,
    {
      userUuid: service.userUuid,
      serviceUuid: service.uuid,
      asker: call.asker,
      plan: planOf(body),
      supersede: body.supersede === true,
      apply,
    },
    keptRollouts,
  )
  if (!outcome.ok) return failedService(service, writeRefusalProblem(outcome.refusal))
  const { rollout, instances } = outcome.value
  await startInstanceWorkflows(deps, call, instances)
  await startRollout(deps, call, { rollout, service })
  const [present] = await findServices(deps.database, call.identity, [{ uuid: service.uuid }])
  // The service was deleted meanwhile.
  if (present === undefined) return missingEntry(serviceKind, { by: 'uuid', value: service.uuid })
  const members = instances.map(({ uuid, name }) => ({
    rolloutUuid: rollout.uuid,
    uuid,
    name,
    isKept: false,
  }))
  return {
    status: 'success',
    uuid: service.uuid,
    name: service.name,
    rollout: presentRollout(rollout, { service: present, members }),
  }
}

/**
 * The change for each image that an instance of the service has now. An image is looked up only if the change
 * needs to know it.
 */
async function changesByImage(
  deps: ApiDeps,
  call: Call,
  { service, body }: { readonly service: ServiceRow; readonly body: RolloutBody },
): Promise<ReadonlyMap<string, WantedChange> | Problem> {
  const rows = await findByUuids(
    deps.database,
    service.instances.map(({ uuid }) => uuid),
  )
  const present = [...new Set(rows.map(({ image }) => image))]
  const references = [...new Set(present.flatMap((image) => imageToFind(body, image) ?? []))]
  const found = await boundedMap(references, maxConcurrent, async (reference) => ({
    reference,
    image: await findImage(deps, call, reference),
  }))
  const images = new Map<string, Exclude<(typeof found)[number]['image'], Problem>>()
  for (const { reference, image } of found) {
    if ('message' in image) return image
    images.set(reference, image)
  }
  return new Map(
    present.map((image) => {
      const known = images.get(imageToFind(body, image) ?? '')
      return [image, { body, ...(known && { image: known }) }]
    }),
  )
}
