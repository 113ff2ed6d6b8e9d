import type { FailedEntry } from '../../contract/envelope.ts'
import type { Page, RequestObject, Target } from '../../contract/request/parsed-request.ts'
import { ControlBusy, ControlUnavailable } from '../../control/control-unavailable.ts'
import { InstanceGone } from '../../domain/instance/instance-gone.ts'
import { findInstances, listInstances } from '../../db/instance/instances.ts'
import type { InstanceFilter } from '../../db/instance/instances.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { asTheirHostsSay } from './awake.ts'
import { boundedMap } from '../bounded-map.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedInstance, missingEntry } from '../failed-entry.ts'
import { listPage } from '../list-page.ts'
import { identifierOf } from '../named-objects.ts'

/** How many calls to workflows and hosts one request may have under way. */
const maxConcurrentObjects = 10

/** Finds named instances, in the order of the targets; undefined for each that is not to be found. */
type Find = (targets: readonly Target[]) => Promise<readonly (InstanceRow | undefined)[]>

/**
 * Does `work` with each instance that the request names, and returns the entries in the order of the request.
 * An instance that the user does not have gets the same `not found`, whether or not another user has it.
 */
export async function forEachInstance<B, E>(
  deps: Pick<ApiDeps, 'database' | 'nodes'>,
  call: Call,
  objects: readonly RequestObject<B>[],
  work: (row: InstanceRow, parameters: B, index: number) => Promise<E | FailedEntry>,
  find: Find = (named) => findAsHostsSay(deps, call, named),
): Promise<readonly (E | FailedEntry)[]> {
  const targets = objects.map((object) => object.target)
  const named = targets.filter((target) => target !== undefined)
  const rows = await find(named)
  return boundedMap(objects, maxConcurrentObjects, async (object, index) => {
    const row = rows[index]
    if (row === undefined) return missingEntry('instance', named[index]!)
    try {
      return await work(row, object.parameters, index)
    } catch (error) {
      return failureOf(error, row, { target: named[index]!, call })
    }
  })
}

/**
 * Finds the instances that the request names, in its order; undefined for each that the user does not have.
 */
async function findAsHostsSay(
  deps: Pick<ApiDeps, 'database' | 'nodes'>,
  call: Call,
  targets: readonly Target[],
): Promise<readonly (InstanceRow | undefined)[]> {
  const rows = await findInstances(deps.database, call.identity, targets.map(identifierOf))
  return asTheirHostsSay(deps, call, rows)
}

/** The user's instances in the order of their creation; with `tags` those that have all of these tags. */
export async function listAsHostsSay(
  deps: Pick<ApiDeps, 'database' | 'nodes'>,
  call: Call,
  { page, tags }: { readonly page: Page; readonly tags?: readonly string[] },
): Promise<readonly InstanceRow[]> {
  const filter = { ...(await pageFilter(deps, call, page)), ...(tags && { tags }) }
  return asTheirHostsSay(deps, call, await listInstances(deps.database, call.identity, filter))
}

function failureOf(
  error: unknown,
  row: InstanceRow,
  { target, call }: { readonly target: Target; readonly call: Call },
): FailedEntry {
  if (error instanceof InstanceGone) return missingEntry('instance', target)
  if (error instanceof ControlUnavailable) {
    call.log.warn({ err: error, instance: row.uuid }, 'the instance could not be reached')
    return failedInstance(row, 'operationFailed', { reason: 'the control plane does not answer' })
  }
  if (error instanceof ControlBusy) {
    const reason =
      'too many starts and stops of this account are under way; wait for some of them, and try again'
    return failedInstance(row, 'operationFailed', { reason })
  }
  throw error
}

/** A page of instances in the terms of the database. */
export async function pageFilter(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  page: Page,
): Promise<InstanceFilter> {
  return listPage(deps, call, { page, list: 'instances', kind: 'instance' })
}
