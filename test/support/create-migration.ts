/**
 * Writes a migration that takes the schema of all migrations so far to the schema of the entities. Run it as
 * `node test/support/create-migration.ts <name>`, and add its result to `src/db/schema/migrations/list.ts`.
 */
import path from 'node:path'
import process from 'node:process'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { startTestServer } from './embedded-postgres.ts'

const [name] = process.argv.slice(2)
if (name === undefined) throw new Error('usage: create-migration.ts <name>')

const directory = path.resolve(import.meta.dirname, '../../src/db/schema/migrations')
const server = await startTestServer()
const database = await openDatabase({ url: server.url, applicationName: 'create-migration' })
try {
  await migrate(database)
  const { fileName } = await database.orm.migrator.create(directory, false, false, name)
  process.stdout.write(fileName === '' ? 'nothing to migrate\n' : `${fileName}\n`)
} finally {
  await database.close()
  await server.stop()
}
