import { readFileSync } from 'node:fs'
import path from 'node:path'
import { insertInstances } from '../src/db/instance/create.ts'
import { openDatabase } from '../src/db/database.ts'
import type { Database } from '../src/db/database.ts'
import { createSecretBox, parseSecretKey } from '../src/db/secret-box.ts'
import type { SecretBox } from '../src/db/secret-box.ts'
import { createToken } from '../src/db/account/tokens.ts'
import { createUser } from '../src/db/account/users.ts'
import { RestartPolicy } from '../src/domain/instance/restart-policy.ts'
import type { Stack } from '../test/support/stack.ts'
import { readRows } from '../test/support/rows.ts'

export interface Account {
  readonly tokens: readonly string[]
  readonly uuids: readonly string[]
}

/**
 * The number of rows in a batch. The user's row is locked for one batch, which takes well under a second.
 */
const batch = 1_000

/**
 * Makes a user with `instances` stopped instances and `tokens` tokens, through the same code as the API but
 * without workflows. The rows say that the workflows were started, so that the sweep does not start ten
 * thousand of them.
 */
export async function seedAccount(
  stack: Stack,
  wanted: {
    readonly name: string
    readonly image: string
    readonly instances: number
    readonly tokens: number
  },
): Promise<Account> {
  return withDatabase(stack, (deps) => seed(deps, wanted))
}

export interface SeedDeps {
  readonly database: Database
  readonly secretBox: SecretBox
}

/** Opens the stack's own database directly, without the API. */
export async function withDatabase<T>(stack: Stack, work: (deps: SeedDeps) => Promise<T>): Promise<T> {
  const { databaseUrl } = JSON.parse(readFileSync(path.join(stack.dataDir, 'stack.json'), 'utf8')) as {
    databaseUrl: string
  }
  const database = await openDatabase({ url: databaseUrl, applicationName: 'bench', poolSize: 2 })
  try {
    const key = readFileSync(path.join(stack.dataDir, 'keys', 'secret.key'), 'utf8')
    return await work({ database, secretBox: createSecretBox(parseSecretKey(key)) })
  } finally {
    await database.close()
  }
}

async function seed(
  { database, secretBox }: SeedDeps,
  wanted: Parameters<typeof seedAccount>[1],
): Promise<Account> {
  const made = await createUser(database, {
    name: wanted.name,
    hard: {
      instances: 100_000,
      liveInstances: 1_000,
      liveVcpus: 1_000,
      liveMemoryMb: 1_000_000,
      snapshotMb: 1_000_000,
      serviceGroups: 10_000,
      services: 10_000,
    },
  })
  if (!made.ok) throw new Error(`the user could not be made: ${made.refusal.kind}`)
  const userUuid = made.user.uuid
  const uuids: string[] = []
  while (uuids.length < wanted.instances) {
    const outcome = await insertInstances(
      { database, secretBox },
      {
        userUuid,
        image: wanted.image,
        memoryMb: 128,
        vcpus: 1,
        env: {},
        restartPolicy: RestartPolicy.Never,
        deleteOnStop: false,
        autostart: false,
        replicas: Math.min(batch, wanted.instances - uuids.length) - 1,
      },
    )
    if (!outcome.ok) throw new Error(`no instances: ${JSON.stringify(outcome.refusal)}`)
    uuids.push(...outcome.instances.map(({ uuid }) => uuid))
    await readRows(database, {
      text: 'update instances set workflow_started_at = now() where uuid = any($1)',
      values: [outcome.instances.map(({ uuid }) => uuid)],
    })
  }
  // PostgreSQL does the same by itself within a minute, at a time that would differ from run to run.
  await readRows(database, { text: 'vacuum (analyze) instances' })
  const tokens = await Promise.all(
    Array.from({ length: wanted.tokens }, () => createToken(database, { userUuid })),
  )
  return { uuids, tokens: tokens.map(({ token }) => token) }
}
