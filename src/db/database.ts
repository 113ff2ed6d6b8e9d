import { strict as assert } from 'node:assert'
import { MikroORM } from '@mikro-orm/postgresql'
import { Migrator } from '@mikro-orm/migrations'
import pg from 'pg'
import { entities } from './schema/entities.ts'
import { CamelCase } from './camel-case.ts'
import { databaseAddress } from './database-address.ts'
import type { DatabaseAddress } from './database-address.ts'
import { migrationList } from './schema/migrations/list.ts'
import type { Db, Tables } from './schema/tables.ts'
import { PostgresClient } from './postgres-client.ts'

export interface DatabaseOptions {
  readonly url: string
  /** The name of the part that opens the connections. `pg_stat_activity` shows it. */
  readonly applicationName: string
  readonly poolSize?: number
  /**
   * Called with a message when an idle connection breaks. A query on a broken connection fails by itself.
   */
  readonly onWarning?: (message: string) => void
}

/**
 * One part's connections to PostgreSQL. Queries wait for a free connection; there are never more than
 * `poolSize`.
 */
export interface Database {
  readonly url: string
  /** How connections beside those of the pool are made. */
  readonly address: DatabaseAddress
  readonly applicationName: string
  readonly orm: MikroORM
  /**
   * The query builder, typed from the entities. Each query takes a free connection; `transaction` keeps one
   * connection for all its queries. Timestamps are `Date`, and 64-bit integers are numbers.
   */
  readonly db: Db
  /** The present use of the connections. */
  readonly pool: { readonly max: number; readonly used: number; readonly waiting: number }
  /** Sends one query to PostgreSQL. Throws when PostgreSQL does not answer. */
  check(): Promise<void>
  close(): Promise<void>
}

const defaultPoolSize = 10
/** How long a query waits for a connection, a free or a new one. Then it fails instead of hanging. */
const connectTimeoutMs = 10_000
const int8Oid = 20

/** The only conversions from PostgreSQL types that differ from those of `pg`. */
const readTypes = new pg.TypeOverrides()
readTypes.setTypeParser(int8Oid, Number)

/** Throws `UnusableDatabase` if the URL names a file that can not be read. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const address = databaseAddress(options.url)
  let pool: pg.Pool | undefined
  // Neither the constructor nor `getClient` connects. So a part can start while PostgreSQL is away: its
  // queries and `check` fail, and it says that it is not ready.
  const orm = new MikroORM({
    entities: [...entities],
    clientUrl: address.connectionString,
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
    // Triggers are written by hand, in migrations.
    schemaGenerator: { ignoreTriggers: true },
    pool: { min: 0, max: options.poolSize ?? defaultPoolSize },
    driverOptions: {
      ssl: address.ssl,
      application_name: options.applicationName,
      connectionTimeoutMillis: connectTimeoutMs,
      Client: PostgresClient,
      types: readTypes,
      onPoolCreated: (created: pg.Pool) => (pool = created),
    },
    forceUtcTimezone: true,
    logger: options.onWarning ?? (() => undefined),
    colors: false,
  })
  orm.em.getConnection().getClient()
  assert(pool, 'MikroORM makes its pool with its client')
  return databaseOver(orm, pool, { ...options, address })
}

function databaseOver(
  orm: MikroORM,
  pool: pg.Pool,
  options: DatabaseOptions & { readonly address: DatabaseAddress },
): Database {
  return {
    url: options.url,
    address: options.address,
    applicationName: options.applicationName,
    orm,
    db: orm.em.fork().getKysely<Tables>().withPlugin(new CamelCase()),
    get pool() {
      const { options: given, totalCount, idleCount, waitingCount } = pool
      return { max: given.max ?? defaultPoolSize, used: totalCount - idleCount, waiting: waitingCount }
    },
    async check() {
      await pool.query('select 1')
    },
    close: () => orm.close(true),
  }
}
