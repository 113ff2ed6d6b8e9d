import { UnusableDatabase } from '../db/unusable-database.ts'
import { keepAcceptedConnections } from '../launch/accept-queues.ts'
import { lockDataDirectory } from '../launch/data-directory.ts'
import { NotInstalled } from '../launch/installed.ts'
import { keepFromKiller } from '../launch/parts/kill-score.ts'
import { UnreachableProgram } from '../launch/parts/part-confinement.ts'
import { createStackLog } from '../launch/parts/part-log.ts'
import { PartStartError } from '../launch/parts/part-run.ts'
import { UserNotMade } from '../launch/parts/part-users.ts'
import { openPlatformGroup } from '../launch/parts/platform-group.ts'
import { PortInUse } from '../launch/ports.ts'
import { runPlatform } from '../launch/run-platform.ts'
import { UnreachableTemporal } from '../launch/services/temporal-registration.ts'
import { DirectoryInUse } from '../primitives/directory-lock.ts'
import { SettingError, withWholePaths } from '../settings/setting-formats.ts'
import { readSettings } from '../settings/settings.ts'
import { openStack } from './stack-platform.ts'

/**
 * The embedded stack: everything on one machine with one command. Runs until a signal ends it
 * (`endSignals`).
 */
async function main(): Promise<void> {
  const { dataDir, agentDir, logLevel } = readSettings(process.env)
  const lock = lockDataDirectory(dataDir)
  const group = openPlatformGroup(dataDir)
  try {
    keepFromKiller(process.pid)
    keepAcceptedConnections()
    const stackLog = createStackLog({ level: logLevel, pretty: process.stderr.isTTY })
    const enterGroup = group?.enter
    const environment = withWholePaths(process.env)
    await runPlatform({
      kind: 'stack',
      open: openStack,
      environment,
      dataDir,
      agentDir,
      stackLog,
      enterGroup,
    })
  } finally {
    await group?.close()
    lock.release()
  }
}

/** The errors whose message says everything. Other errors are defects, and are shown with their stack. */
const explained = [
  SettingError,
  DirectoryInUse,
  NotInstalled,
  PortInUse,
  PartStartError,
  UnusableDatabase,
  UnreachableProgram,
  UnreachableTemporal,
  UserNotMade,
]

try {
  await main()
} catch (error) {
  if (!(error instanceof Error && explained.some((kind) => error instanceof kind))) throw error
  process.stderr.write(`Roost can not start: ${error.message}\n`)
  process.exitCode = 1
}
