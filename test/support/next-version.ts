import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { roostVersion } from '../../src/domain/roost-version.ts'
import { setupFileName } from '../../src/launch/installed.ts'
import { migrationList } from '../../src/db/schema/migrations/list.ts'
import { ownCheckout } from '../../src/launch/own-checkout.ts'

/** A checkout of a later version, which is set up. */
export interface NextVersion {
  readonly checkout: string
  readonly version: string
  /** Replaces a text in one of its files. */
  change(file: string, from: string, to: string): void
  /** Gives it a migration more than this version has. */
  addMigration(sql: string): void
  remove(): void
}

const copied = ['src', 'workflows', 'activities', 'setup', 'temporal-config', 'package.json', setupFileName]

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
  change('package.json', `"version": "${roostVersion}"`, `"version": "${version}"`)
  change('src/domain/roost-version.ts', roostVersion, version)
  return {
    checkout,
    version,
    change,
    addMigration,
    remove: () => rmSync(checkout, { recursive: true, force: true }),
  }
}
