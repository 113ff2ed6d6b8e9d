import { Gauge } from 'prom-client'
import type { Registry } from 'prom-client'
import type { Database } from './database.ts'

/** Adds the metrics of a part's connections to PostgreSQL. */
export function showPool(registry: Registry, database: Pick<Database, 'pool'>): void {
  const gauge = (name: string, help: string, read: (pool: Database['pool']) => number): void => {
    const made: Gauge = new Gauge({
      name,
      help,
      registers: [registry],
      collect: () => made.set(read(database.pool)),
    })
  }
  gauge(
    'roost_database_connections_max',
    'Connections to PostgreSQL that this part may have open.',
    ({ max }) => max,
  )
  gauge(
    'roost_database_connections_used',
    'Connections to PostgreSQL over which this part has a query or a transaction under way.',
    ({ used }) => used,
  )
  gauge(
    'roost_database_waiting_queries',
    'Queries and transactions of this part that wait for a connection to PostgreSQL.',
    ({ waiting }) => waiting,
  )
}
