import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { DoctorCheck } from './check.ts'

const run = promisify(execFile)
const versionLimitMs = 10_000

/**
 * Reads the volumes on this host's disk through the host's driver. Returns undefined if no agent has run
 * here yet.
 */
export type VolumesProbe = () => Promise<VolumesFound | undefined>

export interface VolumesFound {
  readonly directory: string
  readonly totalMb: number
  readonly promisedMb: number
  readonly freeMb: number
  /**
   * The UUIDs of volumes on the disk without a row in the database. It is undefined if the database does not
   * answer.
   */
  readonly unknown: readonly string[] | undefined
}

/**
 * The directories in which the programs are searched. The agent runs them with a search path of its own,
 * which has these directories.
 */
const programDirectories = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']
const programs = ['mke2fs', 'e2fsck', 'debugfs', 'filefrag', 'flock', 'prlimit', 'setpriv']

/** Checks the programs with which volumes are made, checked and erased. */
export async function volumeToolsCheck(
  directories: readonly string[] = programDirectories,
): Promise<DoctorCheck> {
  const name = 'e2fsprogs'
  const places = await Promise.all(programs.map(async (program) => findProgram(program, directories)))
  const absent = programs.filter((_, index) => places[index] === undefined)
  if (absent.length > 0)
    return { name, status: 'missing', detail: `not found: ${absent.join(', ')}`, remedy: 'npm run setup' }
  const e2fsck = places[programs.indexOf('e2fsck')] ?? ''
  // e2fsck prints its version to standard error.
  const { stderr } = await run(e2fsck, ['-V'], { timeout: versionLimitMs })
  return { name, status: 'ok', detail: `${String(stderr.trim().split('\n')[0])} (${e2fsck})` }
}

async function findProgram(program: string, directories: readonly string[]): Promise<string | undefined> {
  for (const directory of directories) {
    const file = path.join(directory, program)
    const usable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (usable) return file
  }
  return undefined
}

/** The most UUIDs that are listed. The remaining ones are only counted. */
const maxNamed = 5

export async function volumesCheck(probe: VolumesProbe): Promise<readonly DoctorCheck[]> {
  const name = 'volumes'
  try {
    const found = await probe()
    if (found === undefined) return [{ name, status: 'ok', detail: 'no agent has run here yet' }]
    return [roomCheck(name, found), ...unknownCheck(found)]
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return [{ name, status: 'warning', detail: `can not be looked at: ${detail}` }]
  }
}

function roomCheck(name: string, { directory, totalMb, promisedMb, freeMb }: VolumesFound): DoctorCheck {
  const leftMb = Math.max(0, totalMb - promisedMb)
  const detail = `${directory}, ${promisedMb} MB promised, room for ${leftMb} MB more, ${freeMb} MB of the disk free`
  if (promisedMb > totalMb) {
    const lackMb = promisedMb - totalMb
    const remedy = `free ${lackMb} MB: virtual machines wait when a volume grows and the disk is full`
    return {
      name,
      status: 'warning',
      detail: `${detail}; ${lackMb} MB of the promises are not covered`,
      remedy,
    }
  }
  if (leftMb > 0) return { name, status: 'ok', detail }
  return { name, status: 'warning', detail, remedy: 'free some space, or create volumes on other hosts' }
}

function unknownCheck({ directory, unknown }: VolumesFound): readonly DoctorCheck[] {
  const name = 'unknown volumes'
  if (unknown === undefined)
    return [{ name, status: 'ok', detail: 'can not be told: the database does not answer' }]
  if (unknown.length === 0) return []
  const named = unknown.slice(0, maxNamed).join(', ')
  const more = unknown.length > maxNamed ? ` and ${unknown.length - maxNamed} more` : ''
  return [
    {
      name,
      status: 'warning',
      detail: `${directory} has ${unknown.length} that the database does not know: ${named}${more}`,
      remedy: 'is it the right database? If so, and nobody misses them, delete their directories',
    },
  ]
}
