import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'

/**
 * The select list of a query that reads whole rows, as one text with the names that rows have. The builder
 * would build and translate some fifty columns for each query, and the names in each row again: that doubled
 * the processor time of reads. A part of a larger query names its columns one by one, because the larger
 * query refers to them by the names that the database has.
 */
export function selectionOf(columns: readonly string[]): RawBuilder<unknown> {
  return sql.raw(columns.map((column) => `"${storedName(column)}" as "${column}"`).join(', '))
}

function storedName(column: string): string {
  return column.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
