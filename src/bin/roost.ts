import path from 'node:path'
import process from 'node:process'
import { CliFailure, ExitCode } from '../cli/cli-failure.ts'
import { withDatabase } from '../cli/database-session.ts'
import { createImageStore } from '../cli/image-import.ts'
import { runCli } from '../cli/program.ts'
import { findApiUrl, findDatabaseUrl, findRegistryUrl } from '../cli/stack-addresses.ts'
import { SettingError } from './setting-formats.ts'
import { readSettings } from './settings.ts'

/** The `roost` command. `roost.mjs` beside it finds a Node that can run this. */
async function main(): Promise<ExitCode> {
  const settings = readSettings(process.env)
  return runCli(process.argv.slice(2), {
    write: (text) => void process.stdout.write(text),
    note: (text) => void process.stderr.write(text),
    withDatabase: async (work) => withDatabase(await findDatabaseUrl(settings), work),
    images: createImageStore({
      addresses: async () => ({
        registryUrl: await findRegistryUrl(settings),
        apiUrl: await findApiUrl(settings),
      }),
      administratorTokenFile: path.join(settings.dataDir, 'token'),
      userToken: process.env['UKC_TOKEN'],
    }),
    doctor: async () => {
      throw new CliFailure('the doctor is not part of this build')
    },
  })
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof SettingError)) throw error
  process.stderr.write(`roost: ${error.message}\n`)
  process.exitCode = ExitCode.Usage
}
