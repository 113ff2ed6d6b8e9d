import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { setupFileName } from '../installed.ts'
import type { Platform, PlatformProcess, RunningPart } from '../platform.ts'
import { UpgradeFailure } from './exchange.ts'

/**
 * The next version is code in another directory. The process that runs the platform loads it from there,
 * and the next version does the rest: so the terminal, systemd, the lock of the data directory and what
 * waits for the process's end notice nothing, and the next version can mend how an upgrade goes.
 */

/** What a process runs: the whole stack, or a host that joined. */
export type PlatformKind = 'stack' | 'host'

export interface TakeOver {
  readonly kind: PlatformKind
  /** The version that runs. Absent if it is one that does not say it. */
  readonly from?: string
  /** The parts that run. */
  readonly before: readonly RunningPart[]
  readonly platformProcess: PlatformProcess
  /**
   * Is told the next version's parts before the first of them starts, so that an end in the middle ends
   * them.
   */
  readonly adopt: (parts: readonly RunningPart[]) => void
  readonly say: (text: string) => void
}

/** What `src/bin/take-over.ts` of each version has. */
export interface NextVersion {
  /** Resolves with the platform once all its parts run. If it throws, those of before run. */
  takeOver(input: TakeOver): Promise<Platform>
}

const entry = path.join('src', 'bin', 'take-over.ts')

/** Throws `UpgradeFailure` if the directory has no version that can take over. */
export async function loadNextVersion(checkout: string, loaded: ReadonlySet<string>): Promise<NextVersion> {
  if (!path.isAbsolute(checkout)) throw new UpgradeFailure(`'${checkout}' is not a whole path`)
  // Node keeps the code that it has loaded, so it would load the same code again, whatever is there now.
  if (loaded.has(checkout))
    throw new UpgradeFailure(
      `the platform has run code of ${checkout} already: put the version that is to take over in a directory of its own`,
    )
  const file = path.join(checkout, entry)
  if (!existsSync(file))
    throw new UpgradeFailure(`${checkout} has no version of Roost that can take over (there is no ${entry})`)
  if (!existsSync(path.join(checkout, setupFileName)))
    throw new UpgradeFailure(`${checkout} is not set up: run \`npm run setup\` there first`)
  return (await import(pathToFileURL(file).href)) as NextVersion
}
