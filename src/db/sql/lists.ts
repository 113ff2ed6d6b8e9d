import { sql } from 'kysely'
import type { AliasedRawBuilder, RawBuilder } from 'kysely'

// Here a whole list is one parameter, so that the text of a query does not depend on the list's length and
// is prepared once. The builder's own `in` has one parameter per value, and fails for an empty list.

/** For the right side of `=`: equal to any of these values. */
export function anyOf<Value>(values: readonly Value[]): RawBuilder<Value> {
  return sql`any(${values})`
}

/** For the right side of `<>`: equal to none of these values. */
export function allOf<Value>(values: readonly Value[]): RawBuilder<Value> {
  return sql`all(${values})`
}

/** A table `wanted` with a row for each UUID. */
export function wantedUuids(values: readonly string[]): AliasedRawBuilder<Wanted, 'wanted'> {
  return sql<Wanted>`unnest(${values}::uuid[])`.as<'wanted'>(sql`wanted (value)`)
}

/** A table `wanted` with a row for each text. */
export function wantedTexts(values: readonly string[]): AliasedRawBuilder<Wanted, 'wanted'> {
  return sql<Wanted>`unnest(${values}::text[])`.as<'wanted'>(sql`wanted (value)`)
}

interface Wanted {
  readonly value: string
}
