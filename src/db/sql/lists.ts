import { sql } from 'kysely'
import type { AliasedRawBuilder, RawBuilder } from 'kysely'

// One parameter for a whole list, so that the text of a query does not depend on how long the list is and is
// prepared once. The builder's own `in` has a parameter per value, and fails for an empty list.

/** To stand behind `=`: equal to one of these. */
export function anyOf<Value>(values: readonly Value[]): RawBuilder<Value> {
  return sql`any(${values})`
}

/** To stand behind `<>`: equal to none of these. */
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
