import { isUuid } from '../domain/object-name.ts'

/** How a request names an object. A name has the form that `parseObjectName` returns. */
export type Identifier = { readonly uuid: string } | { readonly name: string }

/** A page of a list. Lists are in the order of creation, or in the reverse of it. */
export interface ListPage {
  /** How many entries the page has at most. Absent: all of them. */
  readonly count?: number
  /** How many of the first entries are left out. */
  readonly from?: number
  /** Only entries that come after the entry with this `position`. */
  readonly afterPosition?: number
  readonly newestFirst?: boolean
}

/** How the rows of a page compare with its `position`, and the direction in which they are read. */
export function pageBounds({ afterPosition, newestFirst = false }: ListPage) {
  return newestFirst
    ? ({ side: '<', position: afterPosition ?? Number.MAX_SAFE_INTEGER, direction: 'desc' } as const)
    : ({ side: '>', position: afterPosition ?? 0, direction: 'asc' } as const)
}

/**
 * The UUIDs and names that a query has to look for. A text that is given as a UUID but is none is left out,
 * because PostgreSQL would fail the whole query.
 */
export function splitIdentifiers(identifiers: readonly Identifier[]): {
  readonly uuids: readonly string[]
  readonly names: readonly string[]
} {
  return {
    uuids: identifiers.flatMap((one) => ('uuid' in one && isUuid(one.uuid) ? [one.uuid] : [])),
    names: identifiers.flatMap((one) => ('name' in one ? [one.name] : [])),
  }
}

/** The rows in the order of `identifiers`; undefined for each identifier that no row has. */
export function inOrderOf<Found extends { readonly uuid: string; readonly name: string }>(
  identifiers: readonly Identifier[],
  rows: readonly Found[],
): readonly (Found | undefined)[] {
  const byUuid = new Map(rows.map((row) => [row.uuid, row]))
  const byName = new Map(rows.map((row) => [row.name, row]))
  return identifiers.map((one) => ('uuid' in one ? byUuid.get(one.uuid.toLowerCase()) : byName.get(one.name)))
}

/** The column that an identifier names, and its value. */
export function columnOf(identifier: Identifier): readonly ['uuid' | 'name', string] {
  return 'uuid' in identifier ? ['uuid', identifier.uuid] : ['name', identifier.name]
}
