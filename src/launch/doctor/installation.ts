import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { DoctorCheck } from './check.ts'
import { readInstalled } from '../installed.ts'
import type { Installed } from '../installed.ts'

const run = promisify(execFile)
const versionLimitMs = 10_000
const leastNodeMajor = 24

interface Tool {
  readonly name: string
  readonly path: (installed: Installed) => string | undefined
  /** The arguments with which the program prints its version. It is absent if the tool is not a program. */
  readonly versionArgs?: readonly string[]
  /** Whether a machine that joined an installation needs it too. */
  readonly isForHosts?: true
}

const tools: readonly Tool[] = [
  { name: 'Temporal CLI', path: (installed) => installed.temporalCli, versionArgs: ['--version'] },
  { name: 'QEMU', path: (installed) => installed.qemu, versionArgs: ['--version'], isForHosts: true },
  { name: 'image registry', path: (installed) => installed.registry, versionArgs: ['--version'] },
  { name: 'guest kernel', path: (installed) => installed.kernelDirectory, isForHosts: true },
  { name: 'guest program', path: (installed) => installed.guestDirectory, isForHosts: true },
  { name: 'workflow bundle', path: (installed) => installed.workflowBundle },
  { name: 'console pages', path: (installed) => installed.consolePages },
  { name: 'sample images', path: (installed) => installed.sampleImages },
]

/**
 * Checks everything that set-up installs, with the versions of programs that can print theirs. With `isHost`,
 * only what a machine that joined needs.
 */
export async function installationChecks(
  cacheDirectory: string,
  isHost: boolean,
): Promise<readonly DoctorCheck[]> {
  const installed = installedOrNothing()
  const wanted = tools.filter(({ isForHosts }) => !isHost || isForHosts === true)
  const found = await Promise.all(wanted.map((tool) => toolCheck(tool, installed, cacheDirectory)))
  return [nodeCheck(), ...found]
}

function nodeCheck(): DoctorCheck {
  const major = Number(process.versions.node.split('.')[0])
  const status = major >= leastNodeMajor ? 'ok' : 'missing'
  return {
    name: 'Node',
    status,
    detail: process.version,
    ...(status === 'ok' ? {} : { remedy: 'npm run setup' }),
  }
}

function installedOrNothing(): Installed {
  try {
    return readInstalled()
  } catch {
    return {}
  }
}

async function toolCheck(tool: Tool, installed: Installed, cacheDirectory: string): Promise<DoctorCheck> {
  const { name, versionArgs } = tool
  const file = tool.path(installed)
  const missing = (detail: string): DoctorCheck => ({
    name,
    status: 'missing',
    detail,
    remedy: 'npm run setup',
  })
  if (file === undefined) return missing('set-up has not installed it')
  try {
    await access(file, versionArgs === undefined ? constants.R_OK : constants.X_OK)
    const from = file.startsWith(cacheDirectory) ? 'in the cache' : file
    if (versionArgs === undefined) return { name, status: 'ok', detail: from }
    return { name, status: 'ok', detail: `${await versionOf(file, versionArgs)} (${from})` }
  } catch (error) {
    return missing(error instanceof Error ? error.message.trim() : String(error))
  }
}

async function versionOf(file: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(file, args, { timeout: versionLimitMs })
  return String(stdout.trim().split('\n')[0])
}
