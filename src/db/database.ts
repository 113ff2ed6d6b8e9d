import { strict as assert } from 'node:assert'
import { MikroORM } from '@mikro-orm/postgresql'
import { Migrator } from '@mikro-orm/migrations'
import type { EntityManager } from '@mikro-orm/postgresql'
import pg from 'pg'
import { AcmeChallenge } from './schema/acme-challenge.ts'
import { AuthorityAccount } from './schema/authority-account.ts'
import { AuthorityOrder } from './schema/authority-order.ts'
import { Certificate } from './schema/certificate.ts'
import { AutoscaleConfiguration } from './schema/autoscale-configuration.ts'
import { AutoscaleDecision } from './schema/autoscale-decision.ts'
import { CertificateAttempt } from './schema/certificate-attempt.ts'
import { CertificateOrder } from './schema/certificate-order.ts'
import { Domain } from './schema/domain.ts'
import { Instance } from './schema/instance.ts'
import { Node } from './schema/node.ts'
import { Service } from './schema/service.ts'
import { Token } from './schema/token.ts'
import { User } from './schema/user.ts'
import { Volume } from './schema/volume.ts'
import { migrationList } from './schema/migrations/list.ts'
import { PlainTextClient } from './plain-text-client.ts'

export interface DatabaseOptions {
  readonly url: string
  /** Shown in `pg_stat_activity`: which part holds a connection. */
  readonly applicationName: string
  readonly poolSize?: number
  /** Told of connections that broke while nobody used them; queries fail by themselves. */
  readonly onWarning?: (message: string) => void
}

/**
 * One part's connections to PostgreSQL. Queries wait for a free one; there are never more than `poolSize`.
 */
export interface Database {
  readonly url: string
  readonly applicationName: string
  readonly orm: MikroORM
  /** A unit of work of its own, for writes. */
  em(): EntityManager
  /**
   * Rows of a query as plain objects, outside every transaction: no identity map, timestamps as `Date`,
   * 64-bit integers as numbers. Placeholders are `$1`, `$2`. The same text is parsed and planned once per
   * connection.
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
  let pool: pg.Pool | undefined
  // Neither the constructor nor `getClient` connects: whether PostgreSQL is there shows at the first query,
  // or in `check`. So a part starts, and says that it is not ready, while PostgreSQL is away.
  const orm = new MikroORM({
    entities: [
      User,
      Token,
      Node,
      AuthorityAccount,
      AuthorityOrder,
      Certificate,
      CertificateOrder,
      AutoscaleConfiguration,
      AutoscaleDecision,
      CertificateAttempt,
      AcmeChallenge,
      Service,
      Domain,
      Volume,
      Instance,
    ],
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
    // Triggers are written by hand, in migrations.
    schemaGenerator: { ignoreTriggers: true },
    pool: { min: 0, max: options.poolSize ?? defaultPoolSize },
    driverOptions: {
      application_name: options.applicationName,
      connectionTimeoutMillis: connectTimeoutMs,
      Client: PlainTextClient,
      onPoolCreated: (created: pg.Pool) => (pool = created),
    },
    forceUtcTimezone: true,
    logger: options.onWarning ?? (() => undefined),
    colors: false,
  })
  orm.em.getConnection().getClient()
  assert(pool, 'MikroORM makes its pool with its client')
  return databaseOver(orm, pool, options)
}

function databaseOver(orm: MikroORM, pool: pg.Pool, options: DatabaseOptions): Database {
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
