import { createHash } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { isJsonObject, parseJson } from '../domain/json-text.ts'
import { keptFiles, understands } from '../domain/protocols.ts'
import type { RouteLine } from '../domain/service/route-feed.ts'
import { jsonLine } from '../primitives/json-lines.ts'
import { createLineSeal } from './line-seal.ts'
import type { LineSeal } from './line-seal.ts'
import { RouteTable } from './route-table.ts'

/**
 * The last routes on disk. With them, a gateway that starts while the API can not be reached serves what it
 * served before, and later asks only for what changed since. Lines with keys of certificates or secrets of
 * hosts are sealed, and only the file's owner can read it. The file is replaced as a whole and ends with a
 * checksum. A file that is cut short or damaged counts as none: the API then sends everything.
 */
export interface TableFile {
  /** Applies the lines of the file to `table`. Returns false if there is no file, or a damaged one. */
  load(table: RouteTable): Promise<boolean>
  /** Writes the table soon after each change, until it is closed. */
  keep(table: RouteTable): void
  /** Ends the writing, and removes the file: nothing of the routes stays on the disk. */
  remove(): Promise<void>
  /** Writes the changes that are not on the disk yet, and ends the writing. */
  close(): Promise<void>
}

export interface TableFileOptions {
  readonly directory: string
  /** The secret by which lines with secrets are sealed. With another secret the file counts as none. */
  readonly secret: string
  readonly onProblem: (message: string, error: unknown) => void
  readonly minIntervalMs?: number
}

const fileName = 'routes.jsonl'
const header = { kind: 'roost-routes', version: keptFiles.routesFile.version } as const

/**
 * The least time between two writes. The file of a large table has megabytes. What it lacks after a crash
 * is sent again by the API.
 */
const defaultMinIntervalMs = 2_000
/**
 * The largest number of lines that are made without a break, which takes about a millisecond: requests must
 * not wait for a whole table.
 */
const linesAtOnce = 500

export function openTableFile(options: TableFileOptions): TableFile {
  const file = path.join(options.directory, fileName)
  const seal = createLineSeal(options.secret)
  const minIntervalMs = options.minIntervalMs ?? defaultMinIntervalMs
  let unlisten: (() => void) | undefined
  let timer: NodeJS.Timeout | undefined
  /** The table to write. Set while a write is due; it may be due again while another write is under way. */
  let dirty: RouteTable | undefined
  let writing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    timer = undefined
    const table = dirty
    dirty = undefined
    if (!table) return
    try {
      await replaceFile(file, table, seal)
    } catch (error) {
      options.onProblem(`${file} can not be written`, error)
    }
  }

  function writeSoon(table: RouteTable): void {
    dirty = table
    timer ??= setTimeout(() => {
      writing = writing.then(write)
    }, minIntervalMs)
  }

  return {
    async load(table) {
      try {
        const lines = parseTable(await readFile(file, 'utf8'), seal)
        for (const line of lines) table.apply(line)
        return true
      } catch (error) {
        const absent = error instanceof Error && 'code' in error && error.code === 'ENOENT'
        if (!absent) options.onProblem(`${file} can not be used; all routes are asked for`, error)
        return false
      }
    },
    keep(table) {
      unlisten = table.onChange((change) => {
        // A block that changed nothing is not written: an older revision serves as well.
        if (Object.values<ReadonlySet<string>>({ ...change }).some(({ size }) => size > 0)) writeSoon(table)
      })
    },
    async remove() {
      unlisten?.()
      clearTimeout(timer)
      await writing
      dirty = undefined
      await rm(file, { force: true })
    },
    async close() {
      unlisten?.()
      clearTimeout(timer)
      await writing
      await write()
    },
  }
}

/** A file that is not whole: cut short, damaged, or of another version. */
export class DamagedTable extends Error {
  override readonly name = 'DamagedTable'
}

/**
 * Reads all lines of a file, or throws. It first applies them to a table of its own, so that a bad line
 * leaves no half of a table behind.
 */
function parseTable(text: string, seal: LineSeal): readonly RouteLine[] {
  const sumAt = text.lastIndexOf('\n', text.length - 2) + 1
  const body = text.slice(0, sumAt)
  if (text.slice(sumAt) !== sumLine(createHash('sha256').update(body).digest('hex'))) {
    throw new DamagedTable('its checksum is not that of its content')
  }
  const [first = '', ...lines] = body.trimEnd().split('\n')
  if (!isHeader(parseJson(first))) throw new DamagedTable('it is of another version')
  const parsed = lines.map((line) => readLine(line, seal))
  const trial = new RouteTable()
  for (const line of parsed) trial.apply(line)
  if (trial.revision === undefined) throw new DamagedTable('it has no revision')
  return parsed
}

function isHeader(line: unknown): boolean {
  return (
    isJsonObject(line) && line['kind'] === header.kind && understands(keptFiles.routesFile, line['version'])
  )
}

/** The kinds of lines that hold secrets. */
const secretKinds: ReadonlySet<RouteLine['kind']> = new Set(['node', 'certificate', 'challenge', 'metro'])

interface SealedLine {
  readonly kind: 'sealed'
  readonly line: string
}

function writtenLine(line: RouteLine, seal: LineSeal): string {
  if (!secretKinds.has(line.kind)) return jsonLine(line)
  const sealed: SealedLine = { kind: 'sealed', line: seal.seal(JSON.stringify(line)) }
  return jsonLine(sealed)
}

function readLine(text: string, seal: LineSeal): RouteLine {
  const line = JSON.parse(text) as RouteLine | SealedLine
  if (line.kind !== 'sealed') return line
  try {
    return JSON.parse(seal.open(line.line)) as RouteLine
  } catch (cause) {
    throw new DamagedTable('it was sealed with another token', { cause })
  }
}

/** Writes a new file, and renames it into its place once it is on the disk. */
async function replaceFile(file: string, table: RouteTable, seal: LineSeal): Promise<void> {
  // Entries are replaced and never changed, so these lines are the table of one moment, however long the
  // writing takes.
  const lines = [...table.lines()]
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  // While one gateway takes over from another, neither writes into the other's unfinished file.
  const newFile = `${file}.${process.pid}.new`
  const unfinished = await open(newFile, 'w', 0o600)
  try {
    await chmod(newFile, 0o600)
    const sum = createHash('sha256').update(jsonLine(header))
    await unfinished.writeFile(jsonLine(header))
    for (let from = 0; from < lines.length; from += linesAtOnce) {
      const piece = lines
        .slice(from, from + linesAtOnce)
        .map((line) => writtenLine(line, seal))
        .join('')
      sum.update(piece)
      await unfinished.writeFile(piece)
      await yieldToOthers()
    }
    await unfinished.writeFile(sumLine(sum.digest('hex')))
    await unfinished.sync()
  } finally {
    await unfinished.close()
  }
  await rename(newFile, file)
}

function sumLine(sha256: string): string {
  return jsonLine({ kind: 'sum', sha256 })
}
