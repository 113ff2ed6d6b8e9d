import type { Logger } from 'pino'
import path from 'node:path'
import { UnusableDatabase } from '../db/unusable-database.ts'
import { keepAcceptedConnections } from '../launch/accept-queues.ts'
import { lockDataDirectory } from '../launch/data-directory.ts'
import { endOfFailedStart, endSentence, onFirstEndSignal } from '../launch/end-signals.ts'
import type { PlatformEnd } from '../launch/end-signals.ts'
import { DirectoryInUse } from '../primitives/directory-lock.ts'
import { prepareDatabase } from '../launch/first-start.ts'
import { NotInstalled, readInstalled } from '../launch/installed.ts'
import { countVirtualMachines, settleVirtualMachines } from '../launch/parts/left-virtual-machines.ts'
import { keepFromKiller } from '../launch/parts/kill-score.ts'
import { createStackLog } from '../launch/parts/part-log.ts'
import type { StackLog } from '../launch/parts/part-log.ts'
import { UnreachableProgram } from '../launch/parts/part-confinement.ts'
import { UserNotMade } from '../launch/parts/part-users.ts'
import { PortInUse } from '../launch/ports.ts'
import { openPlatformGroup } from '../launch/parts/platform-group.ts'
import type { PlatformGroup } from '../launch/parts/platform-group.ts'
import { seedImages } from '../launch/services/seed-images.ts'
import { endStaleProcesses } from '../launch/parts/stale-processes.ts'
import { UnreachableTemporal } from '../launch/services/temporal-registration.ts'
import { planStack } from '../launch/stack-plan.ts'
import { PartStartError } from '../launch/parts/part-run.ts'
import { createSupervisor } from '../launch/parts/supervisor.ts'
import type { Supervisor } from '../launch/parts/supervisor.ts'
import { welcome } from '../launch/welcome.ts'
import { readTemporalPlace } from '../settings/part-settings.ts'
import { SettingError } from '../settings/setting-formats.ts'
import { readSettings } from '../settings/settings.ts'
import type { Settings } from '../settings/settings.ts'

/**
 * The embedded stack: everything on one machine with one command. Runs until a signal ends it
 * (`endSignals`).
 */
async function main(): Promise<void> {
  const settings = readSettings(process.env)
  const lock = lockDataDirectory(settings.dataDir)
  const group = openPlatformGroup(settings.dataDir)
  try {
    keepFromKiller(process.pid)
    keepAcceptedConnections()
    await runStack(settings, group)
  } finally {
    await group?.close()
    lock.release()
  }
}

async function runStack(settings: Settings, group: PlatformGroup | undefined): Promise<void> {
  const stackLog = createStackLog({ level: settings.logLevel, pretty: process.stderr.isTTY })
  const { log, onLine } = stackLog
  const runDirectory = path.join(settings.dataDir, 'run')
  const ended = await endStaleProcesses(runDirectory)
  if (ended.length > 0) log.warn({ ended }, 'ended what an earlier stack had left running')
  const temporal = settings.temporalAddress === undefined ? undefined : await readTemporalPlace(settings)
  const plan = await planStack(settings, readInstalled(), {
    temporal,
    people: personBehind(process.env),
    afterDatabase: (url) => prepareDatabase({ url, tokenFile: path.join(settings.dataDir, 'token') }),
    afterApi: (addresses) => seed(settings, addresses.registryUrl, stackLog.log),
  })
  if (group === undefined) log.info(noGroup)
  const supervisor = createSupervisor({
    parts: plan.parts,
    runDirectory,
    environment: process.env,
    enterGroup: group?.enter,
    log,
    onLine,
  })
  const foundVms = countVirtualMachines(settings.agentDir)
  const interrupted = stopOnSignal(supervisor, stackLog, settings)
  const onProblem = (message: string, error: unknown) => log.warn({ err: error }, message)
  await plan.closeTemporal(onProblem)
  await plan.keepCopies(onProblem)
  try {
    await plan.prepareGivenServices()
    await supervisor.start()
    if (!interrupted.now) process.stdout.write(welcome(settings, plan.addresses))
  } catch (error) {
    stackLog.quieten()
    const end = endOfFailedStart(foundVms)
    // If a signal has begun the stop, this only waits for it.
    await supervisor.stop(end)
    if (!interrupted.now) {
      await plan.reopenTemporal()
      await settleVirtualMachines(settings.agentDir, end, log)
      throw error
    }
  }
  const end = await interrupted.stopped
  await plan.reopenTemporal()
  await settleVirtualMachines(settings.agentDir, end, log)
  log.info('stopped')
}

const noGroup =
  'the parts of the stack have no control group of their own: docs/operations.md says when they have one, and what to set where they have none'

/** The user who called sudo to start the stack. */
function personBehind(env: NodeJS.ProcessEnv): readonly number[] {
  const uid = Number(env['SUDO_UID'])
  return Number.isInteger(uid) && uid > 0 ? [uid] : []
}

/**
 * Pushes the samples. If that fails, it only warns: the stack is useful without the samples, and a registry
 * that is not the stack's own may not accept its tokens.
 */
async function seed(settings: Settings, registryUrl: string, log: Logger): Promise<void> {
  const { sampleImages } = readInstalled()
  if (sampleImages === undefined) return
  try {
    const pushed = await seedImages({ ...settings, registryUrl, directory: sampleImages })
    if (pushed.length > 0) log.info({ pushed }, 'official images are in the registry')
  } catch (error) {
    log.warn({ err: error }, 'the official images could not be pushed')
  }
}

interface Interruption {
  now: boolean
  readonly stopped: Promise<PlatformEnd>
}

function stopOnSignal(
  supervisor: Supervisor,
  { log, quieten }: StackLog,
  { agentDir }: Settings,
): Interruption {
  const { promise, resolve } = Promise.withResolvers<PlatformEnd>()
  const interruption: Interruption = { now: false, stopped: promise }
  onFirstEndSignal((end, signal) => {
    interruption.now = true
    log.info(endSentence(signal, countVirtualMachines(agentDir)))
    quieten()
    resolve(supervisor.stop(end).then(() => end))
  })
  return interruption
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
