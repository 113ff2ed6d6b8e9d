import { sql } from 'kysely'
import type { AliasedRawBuilder } from 'kysely'
import type { Row } from '../schema/tables.ts'

/**
 * News as rows `news`, from their JSON: an array of objects with the names that the columns have. The query
 * builder can not turn JSON into rows.
 */
export function newsRows(news: string): AliasedRawBuilder<NewsRow, 'news'> {
  return sql<NewsRow>`jsonb_to_recordset(${news}::jsonb)`
    .as<'news'>(sql`news (user_uuid uuid, object_uuid uuid,
    object_name text, at timestamptz, kind text, state_before text, state_after text, why text, asked_by text,
    asker_name text, request_id text, facts jsonb)`)
}

type NewsRow = Omit<Row<'events'>, 'position' | 'xid'>
