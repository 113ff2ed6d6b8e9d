import type { FailedEntry } from '../../contract/envelope.ts'
import type { Problem } from '../../contract/errors.ts'
import type { Page, RequestObject } from '../../contract/request/parsed-request.ts'
import type { ListPage } from '../../db/identifiers.ts'
import type { ServiceRow } from '../../db/service/row.ts'
import { findServices } from '../../db/service/services.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { identifierOf } from '../instance/objects.ts'
import { listPage } from '../list-page.ts'

/** The word for services in messages. */
export const serviceKind = 'service group'

/**
 * Does `work` with each service that the request names, one after the other. The entries are in the request's
 * order.
 */
export async function forEachService<E>(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  objects: readonly RequestObject<unknown>[],
  work: (row: ServiceRow, index: number) => Promise<E | FailedEntry>,
): Promise<readonly (E | FailedEntry)[]> {
  const named = objects.flatMap(({ target }) => target ?? [])
  const rows = await findServices(deps.database, call.identity.userUuid, named.map(identifierOf))
  const entries: (E | FailedEntry)[] = []
  for (const [index, target] of named.entries()) {
    const row = rows[index]
    entries.push(row === undefined ? missingEntry(serviceKind, target) : await work(row, index))
  }
  return entries
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
