import type { Database } from './database.ts'

export interface SweepBounds {
  /** Younger ones are left to the process that made them. */
  readonly olderThanMs: number
  /** At most as many at a time; the next sweep takes the rest. */
  readonly limit: number
}

/** A table whose rows have a workflow each. */
export interface WorkflowTable {
  readonly name: 'instances' | 'volumes' | 'certificates' | 'autoscale_configurations'
  /** Its primary key; absent: `uuid`. */
  readonly key?: 'service_uuid'
  /** What is read of a row. */
  readonly columns: string
  /** Which of its rows have one; absent: all. */
  readonly only?: string
}

/** Rows whose workflow nobody is known to have started, oldest first. */
export async function readUnstarted<Row extends object>(
  database: Database,
  { name, columns, only = 'true' }: WorkflowTable,
  bounds: SweepBounds,
): Promise<readonly Row[]> {
  return database.rows<Row>({
    name: `find-unstarted-${name}`,
    text: `select ${columns} from ${name}
           where ${only} and workflow_started_at is null and created_at < now() - make_interval(secs => $1)
           order by created_at limit $2`,
    values: [bounds.olderThanMs / 1_000, bounds.limit],
  })
}

/** Notes that the workflows of these rows run. */
export async function markStarted(
  database: Database,
  { name, key, only = 'true' }: Omit<WorkflowTable, 'columns'>,
  uuids: readonly string[],
): Promise<void> {
  await database.rows({
    name: `mark-workflow-started-${name}`,
    text: `update ${name} set workflow_started_at = now()
           where ${only} and ${key ?? 'uuid'} = any($1::uuid[]) and workflow_started_at is null`,
    values: [uuids],
  })
}

/** Rows that are marked deleted and still there, longest deleted first. */
export async function readDeleted<Row extends object>(
  database: Database,
  { name, columns }: WorkflowTable,
  bounds: SweepBounds,
): Promise<readonly Row[]> {
  return database.rows<Row>({
    name: `find-deleted-${name}`,
    text: `select ${columns} from ${name}
           where deleted_at < now() - make_interval(secs => $1)
           order by deleted_at limit $2`,
    values: [bounds.olderThanMs / 1_000, bounds.limit],
  })
}
