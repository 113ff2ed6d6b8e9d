import pg from 'pg'

/**
 * The roles in the embedded PostgreSQL. `roost` is the superuser and may do everything, even read files and
 * run programs; only the supervisor knows its password. The parts of Roost connect as `roost_app`, which
 * owns the database `roost` and nothing else.
 */
export const superuser = 'roost'
export const applicationRole = 'roost_app'
export const databaseName = 'roost'

export interface PostgresAt {
  readonly port: number
  /** The superuser's password. */
  readonly password: string
  readonly applicationPassword: string
}

/** The URL with which the parts of Roost connect. */
export function applicationUrl({ port, applicationPassword }: PostgresAt): string {
  return urlOf({ role: applicationRole, password: applicationPassword, port, database: databaseName })
}

export function superuserUrl({ port, password }: PostgresAt, database: string): string {
  return urlOf({ role: superuser, password, port, database })
}

/**
 * Makes the role and its database, or gives an existing database to the role: in earlier versions the parts
 * connected as the superuser, which then owned every table. A repeat changes nothing.
 */
export async function ensureApplicationRole(at: PostgresAt): Promise<void> {
  await asSuperuser(at, 'postgres', async (client) => {
    const role = (name: string) => client.escapeIdentifier(name)
    // Without this setting the server's log would show a failed statement with the password in it.
    await client.query('set log_min_error_statement = panic')
    const made = await client.query('select 1 from pg_roles where rolname = $1', [applicationRole])
    await client.query(
      `${made.rowCount === 0 ? 'create' : 'alter'} role ${role(applicationRole)} login nosuperuser nocreatedb ` +
        `nocreaterole noreplication nobypassrls password ${client.escapeLiteral(at.applicationPassword)}`,
    )
    const there = await client.query('select 1 from pg_database where datname = $1', [databaseName])
    if (there.rowCount === 0) await client.query(`create database ${role(databaseName)}`)
    await client.query(`alter database ${role(databaseName)} owner to ${role(applicationRole)}`)
  })
  await asSuperuser(at, databaseName, async (client) => {
    await client.query(handOver)
  })
}

export async function answers(at: PostgresAt): Promise<void> {
  await asSuperuser(at, 'postgres', async (client) => {
    await client.query('select 1')
  })
}

/**
 * Gives to the role what the superuser made outside PostgreSQL's own schemas: schemas, tables with
 * everything that belongs to them, functions and types.
 */
const handOver = `do $$
declare
  thing text;
begin
  for thing in
    select format('alter schema %I owner to ${applicationRole}', nspname) from pg_namespace
      where nspowner = '${superuser}'::regrole and nspname !~ '^(pg_|information_schema$)'
    union all
    select format('alter %s %I.%I owner to ${applicationRole}',
      case relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view' else 'table' end, nspname, relname)
      from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where relowner = '${superuser}'::regrole and relkind in ('r', 'p', 'v', 'm', 'S') and nspname !~ '^(pg_|information_schema$)'
      -- The sequence of a column goes with its table.
      and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype in ('a', 'i'))
    union all
    select format('alter routine %s owner to ${applicationRole}', pg_proc.oid::regprocedure)
      from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
      where proowner = '${superuser}'::regrole and nspname !~ '^(pg_|information_schema$)'
    union all
    select format('alter type %I.%I owner to ${applicationRole}', nspname, typname)
      from pg_type join pg_namespace on pg_namespace.oid = typnamespace
      where typowner = '${superuser}'::regrole and typtype in ('e', 'd') and nspname !~ '^(pg_|information_schema$)'
  loop
    execute thing;
  end loop;
end $$`

async function asSuperuser(
  at: PostgresAt,
  database: string,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({
    connectionString: superuserUrl(at, database),
    connectionTimeoutMillis: 2_000,
  })
  // A server that is stopping sends an error to an idle connection. The error is ignored here, because the
  // next query fails with an error of its own.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

function urlOf(place: {
  readonly role: string
  readonly password: string
  readonly port: number
  readonly database: string
}): string {
  const { role, password, port, database } = place
  return `postgres://${role}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`
}
