import type { FailedEntry } from '../contract/envelope.ts'
import type { RequestObject, Target } from '../contract/request/parsed-request.ts'
import type { Database } from '../db/database.ts'
import type { Reach } from '../db/account/reach.ts'
import type { Identifier } from '../db/identifiers.ts'
import type { Call } from './call.ts'
import type { ApiDeps } from './deps.ts'
import { missingEntry } from './failed-entry.ts'

/** How one kind of object is found and called. */
export interface ObjectKind<Row> {
  /** The word in messages. */
  readonly kind: string
  /** The rows in the order of the identifiers; undefined for each that is not within reach. */
  readonly find: (
    database: Database,
    reach: Reach,
    identifiers: readonly Identifier[],
  ) => Promise<readonly (Row | undefined)[]>
}

/**
 * Does `work` with each object that the request names, one after the other. The entries are in the request's
 * order.
 */
export async function forEachNamed<Row, B, E>(
  { kind, find }: ObjectKind<Row>,
  { deps, call }: { readonly deps: Pick<ApiDeps, 'database'>; readonly call: Call },
  objects: readonly RequestObject<B>[],
  work: (row: Row, parameters: B, index: number) => Promise<E | FailedEntry>,
): Promise<readonly (E | FailedEntry)[]> {
  const named = objects.flatMap(({ target, parameters }) => (target ? [{ target, parameters }] : []))
  const identifiers = named.map(({ target }) => identifierOf(target))
  const rows = await find(deps.database, call.identity, identifiers)
  const entries: (E | FailedEntry)[] = []
  for (const [index, { target, parameters }] of named.entries()) {
    const row = rows[index]
    entries.push(row === undefined ? missingEntry(kind, target) : await work(row, parameters, index))
  }
  return entries
}

export function identifierOf(target: Target): Identifier {
  return target.by === 'uuid' ? { uuid: target.value } : { name: target.value }
}
