import { MikroORM } from '@mikro-orm/postgresql'
import { Migrator } from '@mikro-orm/migrations'
import type { EntityManager } from '@mikro-orm/postgresql'
import pg from 'pg'
import { Instance } from './entities/instance.ts'
import { Node } from './entities/node.ts'
import { Token } from './entities/token.ts'
import { User } from './entities/user.ts'
import { migrationList } from './migrations/list.ts'

export interface DatabaseOptions {
  readonly url: string
  /** Shown in `pg_stat_activity`: which part holds a connection. */
  readonly applicationName: string
  readonly poolSize?: number
}

/** One part's connections to PostgreSQL. Queries wait for a free one; there are never more than `poolSize`. */
export interface Database {
  readonly url: string
  readonly applicationName: string
  readonly orm: MikroORM
  /** A unit of work of its own, for writes. */
  em(): EntityManager
  /**
   * Rows of a query as plain objects, outside every transaction: no identity map, timestamps as `Date`, 64-bit
   * integers as numbers. Placeholders are `$1`, `$2`. The same text is parsed and planned once per connection.
   */
  rows<Row>(query: ReadQuery): Promise<Row[]>
  /** Throws when PostgreSQL does not answer. */
  check(): Promise<void>
  close(): Promise<void>
}

export interface ReadQuery {
  /** Names the prepared statement; one text per name. */
  readonly name: string
  readonly text: string
  readonly values?: readonly unknown[]
}

const defaultPoolSize = 10
/** A part that can not connect for this long says so instead of hanging. */
const connectTimeoutMs = 10_000
const int8Oid = 20

const readTypes = new pg.TypeOverrides()
readTypes.setTypeParser(int8Oid, Number)

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const orm = await MikroORM.init({
    entities: [User, Token, Node, Instance],
    clientUrl: options.url,
    extensions: [Migrator],
    migrations: {
      migrationsList: [...migrationList],
      snapshot: false,
      transactional: true,
      allOrNothing: true,
      emit: 'ts',
      silent: true,
      fileName: (timestamp, name) => `${timestamp}-${name ?? 'change'}`,
    },
    pool: { min: 0, max: options.poolSize ?? defaultPoolSize },
    driverOptions: { application_name: options.applicationName, connectionTimeoutMillis: connectTimeoutMs },
    forceUtcTimezone: true,
  })
  const pool = await orm.em.getConnection().getNativeClient()
  return {
    url: options.url,
    applicationName: options.applicationName,
    orm,
    em: () => orm.em.fork(),
    async rows<Row>(query: ReadQuery) {
      const result = await pool.query({ ...query, values: [...(query.values ?? [])], types: readTypes })
      return result.rows as Row[]
    },
    async check() {
      await pool.query('select 1')
    },
    close: () => orm.close(true),
  }
}
