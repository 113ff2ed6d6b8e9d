import { readFile } from 'node:fs/promises'
import { migrate } from '../db/schema/migrate.ts'
import { openDatabase } from '../db/database.ts'
import type { Database } from '../db/database.ts'
import { createToken } from '../db/account/tokens.ts'
import { createUser, findUser } from '../db/account/users.ts'
import { writeOnce } from './keys.ts'

const adminName = 'admin'

/**
 * Makes the schema, the user `admin` and a token for that user. Nothing is made twice. If somebody deleted
 * the token file, it is written again with a new token.
 */
export async function prepareDatabase(options: {
  readonly url: string
  readonly tokenFile: string
}): Promise<void> {
  const database = await openDatabase({ url: options.url, applicationName: 'roost stack', poolSize: 2 })
  try {
    await migrate(database)
    await ensureAdminToken(database, options.tokenFile)
  } finally {
    await database.close()
  }
}

async function ensureAdminToken(database: Database, tokenFile: string): Promise<void> {
  const userUuid = await adminUuid(database)
  if (
    await readFile(tokenFile).then(
      () => true,
      () => false,
    )
  )
    return
  const { token } = await createToken(database, { userUuid, label: 'first start', developer: true })
  await writeOnce(tokenFile, `${token}\n`)
}

async function adminUuid(database: Database): Promise<string> {
  const found = await findUser(database, adminName)
  if (found) return found.uuid
  const made = await createUser(database, { name: adminName, admin: true })
  if (!made.ok) throw new Error(`the user ${adminName} could not be created: ${made.refusal.kind}`)
  return made.user.uuid
}
