import path from 'node:path'
import process from 'node:process'
import { ExitCode } from '../cli/cli-failure.ts'
import { withDatabase } from '../cli/database-session.ts'
import { createImageStore } from '../cli/image-import.ts'
import { runCli } from '../cli/program.ts'
import { findApiUrl, findDatabaseUrl, findRegistryUrl } from '../cli/stack-addresses.ts'
import { readGuestAssets } from '../host/vmm/guest-assets.ts'
import { readHostFacts } from '../host/vmm/host-facts.ts'
import { kvmVerdict } from '../host/vmm/kvm-probe.ts'
import { runDoctor } from '../launch/doctor.ts'
import { readInstalled, requireInstalled } from '../launch/installed.ts'
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
    doctor: () => runDoctor(settings, () => probeKvm(settings.cacheDir)),
  })
}

/** The same probe that an agent makes at its start, with the same memory of its verdict. */
async function probeKvm(
  cacheDirectory: string,
): Promise<{ readonly usable: boolean; readonly reason: string }> {
  const assets = await readGuestAssets(requireInstalled(readInstalled(), 'guestDirectory'))
  return kvmVerdict(await readHostFacts(), assets, cacheDirectory)
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof SettingError)) throw error
  process.stderr.write(`roost: ${error.message}\n`)
  process.exitCode = ExitCode.Usage
}
