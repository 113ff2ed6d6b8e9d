import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { roostVersion } from '../../src/domain/roost-version.ts'
import { setupFileName } from '../../src/launch/installed.ts'
import { migrationList } from '../../src/db/schema/migrations/list.ts'
import { ownCheckout } from '../../src/launch/own-checkout.ts'
import { outcomeOf } from './program-outcome.ts'
import type { ProgramOutcome } from './program-outcome.ts'

/** A checkout of a later version, which is set up. */
export interface NextVersion {
  readonly checkout: string
  readonly version: string
  /** Replaces a text in one of its files. */
  change(file: string, from: string, to: string): void
  /** Gives it a migration more than this version has. */
  addMigration(sql: string): void
  /** Makes set-up find that this checkout's set-up got all of it. To be called after all changes. */
  setUp(): Promise<void>
  remove(): void
}

const copied = ['src', 'workflows', 'activities', 'setup', 'temporal-config', 'package.json', setupFileName]
/** What set-up looks at besides. */
const setUpFrom = ['package-lock.json', 'guest', 'console', 'samples']

/** Makes this checkout's code a version that comes after it. */
export function makeNextVersion(version: string): NextVersion {
  const checkout = mkdtempSync(path.join(tmpdir(), 'roost-next-'))
  // The parts have users of their own, and read it.
  chmodSync(checkout, 0o755)
  for (const name of copied)
    cpSync(path.join(ownCheckout, name), path.join(checkout, name), { recursive: true })
  symlinkSync(path.join(ownCheckout, 'node_modules'), path.join(checkout, 'node_modules'))
  const change = (file: string, from: string, to: string): void => {
    const at = path.join(checkout, file)
    const before = readFileSync(at, 'utf8')
    if (!before.includes(from)) throw new Error(`${file} has no '${from}'`)
    writeFileSync(at, before.replace(from, to))
  }
  const addMigration = (sql: string): void => {
    const name = 'Migration20990101000000_more'
    const { name: last } = migrationList.at(-1)!
    const directory = path.join(checkout, 'src/db/schema/migrations')
    writeFileSync(
      path.join(directory, 'more.ts'),
      `import { Migration } from '@mikro-orm/migrations'\n` +
        `export class ${name} extends Migration {\n  override name = '${name}'\n` +
        `  override up(): void {\n    this.addSql(${JSON.stringify(sql)})\n  }\n}\n`,
    )
    change(
      'src/db/schema/migrations/list.ts',
      'export const migrationList: readonly MigrationObject[] = [',
      `import { ${name} } from './more.ts'\nexport const migrationList: readonly MigrationObject[] = [`,
    )
    change(
      'src/db/schema/migrations/list.ts',
      `class: ${last} },`,
      `class: ${last} },\n  { name: '${name}', class: ${name} },`,
    )
  }
  const setUp = async (): Promise<void> => {
    for (const name of setUpFrom)
      cpSync(path.join(ownCheckout, name), path.join(checkout, name), { recursive: true })
    const { currentStamp } = (await import(path.join(checkout, 'setup/stamp.mjs'))) as Stamps
    const { cache, isRoot } = (await import(path.join(checkout, 'setup/paths.mjs'))) as SetUpPaths
    const stamp = currentStamp({ cache, cli: process.env['TEMPORAL_CLI_PATH'] ?? '', isRoot })
    const file = path.join(checkout, setupFileName)
    const known = JSON.parse(readFileSync(file, 'utf8')) as object
    writeFileSync(file, JSON.stringify({ ...known, stamp }))
  }
  change('package.json', `"version": "${roostVersion}"`, `"version": "${version}"`)
  change('src/domain/roost-version.ts', roostVersion, version)
  return {
    checkout,
    version,
    change,
    addMigration,
    setUp,
    remove: () => rmSync(checkout, { recursive: true, force: true }),
  }
}

interface SetUpPaths {
  readonly cache: string
  readonly isRoot: boolean
}

interface Stamps {
  currentStamp(environment: SetUpPaths & { readonly cli: string }): string
}

/** How long an upgrade of one machine may take on a busy one. */
export const upgradeLimitMs = 200_000

/** Runs `roost upgrade` of that version for the platform in a data directory. */
export async function upgradeTo({ checkout }: NextVersion, dataDir: string): Promise<ProgramOutcome> {
  const program = path.join(checkout, 'src/bin/roost.ts')
  return await outcomeOf(process.execPath, [program, 'upgrade', dataDir], { timeout: upgradeLimitMs })
}
