import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'

/** The folder of the checkout. */
export const checkout = path.resolve(import.meta.dirname, '../..')

/** Files and folders that nobody wrote by hand. */
const skipped = new Set(['node_modules', '.git', '.roost', 'coverage', '.roost-setup.json', 'api-types.ts'])

/** Returns every file that people wrote, as a path relative to the checkout. */
export function writtenFiles(): readonly string[] {
  return walk('').toSorted()
}

function walk(folder: string): string[] {
  return readdirSync(path.join(checkout, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name)
    if (skipped.has(entry.name)) return []
    if (entry.isDirectory()) return isDataDirectory(name) ? [] : walk(name)
    return entry.isFile() ? [name] : []
  })
}

/**
 * Whether the folder is the data directory of a stack. The directory may have any name, so its key is looked
 * for.
 */
function isDataDirectory(folder: string): boolean {
  return existsSync(path.join(checkout, folder, 'keys', 'secret.key'))
}

export function textOf(file: string): string {
  return readFileSync(path.join(checkout, file), 'utf8')
}

export function isFile(file: string): boolean {
  return statSync(path.join(checkout, file), { throwIfNoEntry: false })?.isFile() ?? false
}

export function isSource(file: string): boolean {
  return /\.(ts|tsx|mts|mjs)$/.test(file)
}

export interface Import {
  /** The name as it is written: a package, `node:...`, or a relative path. */
  readonly specifier: string
  /** The path relative to the checkout, if the import is a file of it. */
  readonly file: string | undefined
  readonly typeOnly: boolean
}

/** Matches `import`, `export ... from`, and `import()` with a literal. */
const importPattern =
  /^(?:import|export)(?<typeOnly>\s+type\b)?[^'"`;]*?\bfrom\s+'(?<from>[^']+)'|^import\s+'(?<bare>[^']+)'|\bimport\(\s*'(?<dynamic>[^']+)'/gm

export function importsOf(file: string): readonly Import[] {
  return [...textOf(file).matchAll(importPattern)].map(({ groups }) => {
    const specifier = groups?.['from'] ?? groups?.['bare'] ?? groups?.['dynamic'] ?? ''
    const target = specifier.startsWith('.') ? path.join(path.dirname(file), specifier) : undefined
    return { specifier, file: target, typeOnly: groups?.['typeOnly'] !== undefined }
  })
}

/** Returns every file to which these files lead, and these files themselves. */
export function reachedFrom(starts: readonly string[]): ReadonlySet<string> {
  const reached = new Set<string>()
  const visit = (file: string): void => {
    if (reached.has(file) || !isFile(file)) return
    reached.add(file)
    for (const next of [...importsOf(file).map((one) => one.file), ...startedBy(file)]) {
      if (next !== undefined) visit(next)
    }
  }
  starts.forEach(visit)
  return reached
}

/**
 * Returns the files that a source starts as processes. Their names stand in strings, relative to the source
 * or to the checkout.
 */
export function startedBy(file: string): readonly string[] {
  return [...textOf(file).matchAll(/['"`]((?:\.{0,2}\/)?[\w./-]+\.(?:ts|mjs))['"`]/g)]
    .flatMap(([, name = '']) => [path.join(path.dirname(file), name), name])
    .filter(isFile)
}
