import type { InferKyselyDB } from '@mikro-orm/postgresql'
import type { ColumnType, Kysely, Selectable } from 'kysely'
import type { entities } from './entities.ts'

/**
 * All tables and their columns under the names that queries use (`autoscaleConfigurations.masterUuid`),
 * derived from the entities. The database calls them `autoscale_configurations.master_uuid`.
 */
export type Tables = {
  [Table in keyof StoredTables as CamelCase<Table>]: {
    [Column in keyof StoredTables[Table] as CamelCase<Column>]: WrittenAsText<StoredTables[Table][Column]>
  }
}

/** The query builder over any free connection, or over the one connection of a transaction. */
export type Db = Kysely<Tables>

/** One row of a table as queries return it. */
export type Row<Table extends keyof Tables> = Selectable<Tables[Table]>

/** A JSON value as the text that is sent to PostgreSQL. `json` makes it. */
export type JsonText<Value> = string & { readonly jsonOf: Value }

type StoredTables = InferKyselyDB<(typeof entities)[number]>

type CamelCase<Name> = Name extends `${infer Head}_${infer Letter}${infer Tail}`
  ? `${Head}${Uppercase<Letter>}${CamelCase<Tail>}`
  : Name

/** A JSON column takes only `JsonText`: the driver would send a plain array as a PostgreSQL array. */
type WrittenAsText<Column> = [Exclude<Column, Primitive>] extends [never]
  ? Column
  : [Column] extends [ColumnType<infer Read, infer Insert, unknown>]
    ? [Exclude<Read, Primitive>] extends [never]
      ? Column
      : ColumnType<Read, AsText<Insert>, AsText<Read>>
    : ColumnType<Column, AsText<Column>, AsText<Column>>

/** A union of JSON values stays one value: its text may be of any of them. */
type AsText<Value> =
  | Extract<Value, Primitive>
  | ([Exclude<Value, Primitive>] extends [never] ? never : JsonText<Exclude<Value, Primitive>>)

type Primitive = string | number | boolean | Date | null | undefined
