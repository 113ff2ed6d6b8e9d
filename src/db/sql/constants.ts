import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'

/**
 * A word of a vocabulary that stands in the text of the query, while other values are parameters. PostgreSQL
 * uses a partial index (`where state <> 'stopped'`) only for queries whose text has the same condition,
 * because the planner does not know the value of a parameter.
 */
export function constant<Word extends string>(word: Word): RawBuilder<Word> {
  return sql.lit(word)
}
