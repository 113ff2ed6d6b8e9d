import type { FailedEntry } from '../../contract/envelope.ts'
import type { Problem } from '../../contract/errors.ts'
import type { Page, RequestObject } from '../../contract/request/parsed-request.ts'
import type { ListPage } from '../../db/identifiers.ts'
import type { ServiceRow } from '../../db/service/row.ts'
import { findServices } from '../../db/service/services.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { listPage } from '../list-page.ts'
import { forEachNamed } from '../named-objects.ts'
import type { ObjectKind } from '../named-objects.ts'

/** The word for services in messages. */
export const serviceKind = 'service group'

const services: ObjectKind<ServiceRow> = { kind: serviceKind, find: findServices }

/** Does `work` with each service that the request names, as `forEachNamed` does. */
export async function forEachService<B, E>(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  objects: readonly RequestObject<B>[],
  work: (row: ServiceRow, parameters: B, index: number) => Promise<E | FailedEntry>,
): Promise<readonly (E | FailedEntry)[]> {
  return forEachNamed(services, { deps, call }, objects, work)
}

/** The entry of a service for which the operation failed. */
export function failedService(
  { uuid, name }: Pick<ServiceRow, 'uuid' | 'name'>,
  wrong: Problem,
): FailedEntry {
  return { status: 'error', uuid, name, message: wrong.message, error: wrong.code }
}

/** A page of services in the terms of the database. */
export async function servicePage(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  page: Page,
): Promise<ListPage> {
  return listPage(deps, call, { page, list: 'services', kind: serviceKind })
}
