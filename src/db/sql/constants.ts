import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'

/**
 * A word of a vocabulary that stands in the text of the query, where other values are parameters. A partial
 * index (`where state <> 'stopped'`) serves only queries whose text has the same condition: for a parameter
 * the planner can not know it.
 */
export function constant<Word extends string>(word: Word): RawBuilder<Word> {
  return sql.lit(word)
}
