import { problem, requestError } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { Identity } from '../../db/account/authenticator.ts'
import type { ServiceChoice } from '../../db/instance/new-instances.ts'
import { findServices } from '../../db/service/services.ts'
import type { ApiDeps } from '../deps.ts'
import { serviceKind } from '../service/objects.ts'
import { limitOf } from '../token-check.ts'
import type { InstanceBody } from './new-instance.ts'

/**
 * Refuses a request of a token that is limited to services, unless each new instance is attached to a
 * service that exists, and has no volume.
 */
export function refuseBeyondServices({ services }: Identity, bodies: readonly InstanceBody[]): void {
  if (services === null) return
  const limit = { services: limitOf(services) }
  for (const { service_group: group, volumes = [] } of bodies) {
    if (group?.uuid === undefined && group?.name === undefined)
      throw requestError('serviceGroupNeeded', limit)
    if (volumes.length > 0) throw requestError('volumesNotAllowed', limit)
  }
}

/**
 * Checks whether the services to which new instances are to be attached are within the reach of a limited
 * token. Returns one result per service: undefined if it is, or the same problem as if it did not exist. A
 * service never changes its name, so what is found here stays true.
 */
export async function outOfReach(
  deps: Pick<ApiDeps, 'database'>,
  identity: Identity,
  choices: readonly (ServiceChoice | undefined)[],
): Promise<readonly (Problem | undefined)[]> {
  if (identity.services === null) return choices.map(() => undefined)
  const identifiers = choices.map((choice) =>
    choice !== undefined && 'existing' in choice ? choice.existing : undefined,
  )
  const found = await findServices(
    deps.database,
    identity,
    identifiers.flatMap((one) => one ?? []),
  )
  const reached = new Set(found.flatMap((service) => (service ? [service.uuid, service.name] : [])))
  return identifiers.map((identifier) => {
    const [by, value] = Object.entries(identifier ?? {})[0] ?? ['name', '']
    return reached.has(value) ? undefined : problem('notFound', { kind: serviceKind, by, value })
  })
}
