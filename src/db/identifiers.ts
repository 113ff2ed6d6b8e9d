import { isUuid } from '../domain/object-name.ts'

/** How a request names an object. Names are given as `parseObjectName` returns them. */
export type Identifier = { readonly uuid: string } | { readonly name: string }

/** A part of a list, which is in the order of creation. */
export interface ListPage {
  /** Absent: all. */
  readonly count?: number
  /** How many of the first ones are left out. */
  readonly from?: number
  /** Only those that were created after the one with this `position`. */
  readonly afterPosition?: number
}

/**
 * What a query has to look for. A text that is no UUID is left out: PostgreSQL would fail the whole query for
 * it.
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
