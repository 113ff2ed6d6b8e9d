import { Connection } from '@temporalio/client'
import { chmod, mkdir, rename } from 'node:fs/promises'
import path from 'node:path'
import { canConfine, confine } from '../parts/part-confinement.ts'
import type { Confinement } from '../parts/part-confinement.ts'
import type { Part } from '../parts/part.ts'
import { ensureUser, giveTree, PartUser } from '../parts/part-users.ts'
import { untilSucceeds } from '../readiness.ts'
import { readDynamicConfig, readNamespaceConfig } from './temporal-config.ts'
import { registerNamespace } from './temporal-registration.ts'

export interface EmbeddedTemporal {
  /** The program of the Temporal CLI. */
  readonly program: string
  /** The database file. It is in a directory of its own, because SQLite makes further files beside it. */
  readonly databaseFile: string
  /** The path at which an earlier version kept the file. */
  readonly formerDatabaseFile?: string
  readonly port: number
  readonly uiPort: number
  readonly namespace: string
}

/**
 * The dev server with its Web UI: one process and a database file, with the same settings as the production
 * server.
 */
export async function temporalPart(options: EmbeddedTemporal): Promise<Part> {
  const address = `127.0.0.1:${options.port}`
  const confinement = await confinementOf(options)
  return {
    name: 'temporal',
    program: options.program,
    args: devServerArgs(options),
    // The CLI reads files of the home directory, and exits if it may not read that. So it has one of its own.
    env: { TEMPORAL_DISABLE_CONFIG_FILE: 'true', HOME: path.dirname(options.databaseFile) },
    confinement,
    stopSignal: 'SIGINT',
    stopLimitMs: 5_000,
    async prepare() {
      const directory = path.dirname(options.databaseFile)
      await mkdir(directory, { recursive: true, mode: 0o700 })
      if (options.formerDatabaseFile !== undefined) {
        await moveDatabase(options.formerDatabaseFile, options.databaseFile)
      }
      if (confinement !== undefined) await giveTree(directory, confinement.user)
    },
    ready: (signal) => untilSucceeds(() => checkTemporal(address), signal),
    async afterFirstReady() {
      // The files name every user and instance. Their mode can not be set earlier: if the database existed
      // before the start, the server would not make its tables.
      for (const suffix of ['', '-wal', '-shm']) await chmod(options.databaseFile + suffix, 0o600)
      await registerNamespace({ address, namespace: options.namespace, config: readNamespaceConfig() })
    },
  }
}

async function confinementOf({ program, databaseFile }: EmbeddedTemporal): Promise<Confinement | undefined> {
  if (!canConfine()) return undefined
  const user = await ensureUser(PartUser.Temporal)
  return confine({ user, program, reads: [], own: [path.dirname(databaseFile)] })
}

/**
 * Moves the database's files. The files beside the main one hold data that is not in the main one yet, so
 * they are moved first. So a move that was cut off can be continued.
 */
async function moveDatabase(from: string, to: string): Promise<void> {
  for (const suffix of ['-wal', '-shm', '-journal', '']) {
    await rename(from + suffix, to + suffix).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
}

/**
 * How SQLite writes. Without these, each commit makes a journal file, flushes it and the database, and
 * deletes the file again. With a write-ahead log a commit appends to one file and flushes that. `full`
 * flushes at every commit, so nothing that Temporal has acknowledged is lost if the machine dies.
 */
const pragmas = ['journal_mode=wal', 'synchronous=full'] as const

export function devServerArgs(options: EmbeddedTemporal): readonly string[] {
  const flags = {
    '--ip': '127.0.0.1',
    '--port': options.port,
    '--ui-port': options.uiPort,
    '--db-filename': options.databaseFile,
    '--log-level': 'warn',
    '--log-format': 'json',
  }
  return [
    'server',
    'start-dev',
    ...Object.entries(flags).flatMap(([flag, value]) => [flag, String(value)]),
    ...pragmas.flatMap((pragma) => ['--sqlite-pragma', pragma]),
    ...readDynamicConfig().flatMap(({ key, json }) => ['--dynamic-config-value', `${key}=${json}`]),
  ]
}

async function checkTemporal(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 })
  try {
    await connection.withDeadline(Date.now() + 2_000, () => connection.workflowService.getSystemInfo({}))
  } finally {
    await connection.close()
  }
}
