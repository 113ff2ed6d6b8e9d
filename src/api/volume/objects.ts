import type { FailedEntry } from '../../contract/envelope.ts'
import { problem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { Page, RequestObject } from '../../contract/request/parsed-request.ts'
import { findInstances } from '../../db/instance/instances.ts'
import type { Identifier, ListPage } from '../../db/identifiers.ts'
import type { VolumeRow } from '../../db/volume/row.ts'
import { findVolumes } from '../../db/volume/volumes.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { listPage } from '../list-page.ts'
import { forEachNamed } from '../named-objects.ts'
import type { ObjectKind } from '../named-objects.ts'

/** The word for volumes in messages. */
export const volumeKind = 'volume'

const volumes: ObjectKind<VolumeRow> = {
  kind: volumeKind,
  find: (database, { userUuid }, identifiers) => findVolumes(database, userUuid, identifiers),
}

/** Does `work` with each volume that the request names, as `forEachNamed` does. */
export async function forEachVolume<B, E>(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  objects: readonly RequestObject<B>[],
  work: (row: VolumeRow, parameters: B, index: number) => Promise<E | FailedEntry>,
): Promise<readonly (E | FailedEntry)[]> {
  return forEachNamed(volumes, { deps, call }, objects, work)
}

/** Finds the instance of this user that a request about volumes names. */
export async function findNamedInstance(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  identifier: Identifier,
): Promise<{ readonly ok: true; readonly uuid: string } | { readonly ok: false; readonly problem: Problem }> {
  const [row] = await findInstances(deps.database, call.identity, [identifier])
  if (row !== undefined) return { ok: true, uuid: row.uuid }
  const [by, value] = Object.entries(identifier)[0] ?? []
  return { ok: false, problem: problem('notFound', { kind: 'instance', by: by ?? '', value: value ?? '' }) }
}

/** The entry of a volume for which the operation failed. */
export function failedVolume({ uuid, name }: Pick<VolumeRow, 'uuid' | 'name'>, wrong: Problem): FailedEntry {
  return { status: 'error', uuid, name, message: wrong.message, error: wrong.code }
}

/** The part of the list of volumes that a request asks for, as database queries take it. */
export async function volumePage(deps: Pick<ApiDeps, 'database'>, call: Call, page: Page): Promise<ListPage> {
  return listPage(deps, call, { page, list: 'volumes', kind: volumeKind })
}
