import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'

/** One file of the console's pages, in every form in which it can be sent. */
export interface ConsoleFile {
  readonly type: string
  readonly etag: string
  readonly bodies: { readonly identity: Buffer; readonly br?: Buffer; readonly gzip?: Buffer }
}

/** The files by their paths below `/console/`, such as `index.html`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
const compressed = /\.(br|gz)$/

/** Reads what set-up built. All files together have some hundred kilobytes. */
export async function readConsoleFiles(directory: string): Promise<ConsoleFiles> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true })
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
  const present = new Set(names)
  const files = names.filter((name) => !compressed.test(name))
  const read = (name: string): Promise<Buffer> => readFile(path.join(directory, name))
  const pairs = files.map(async (name): Promise<[string, ConsoleFile]> => {
    const identity = await read(name)
    const bodies = {
      identity,
      ...(present.has(`${name}.br`) && { br: await read(`${name}.br`) }),
      ...(present.has(`${name}.gz`) && { gzip: await read(`${name}.gz`) }),
    }
    const etag = `"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`
    return [name, { type: types[path.extname(name)] ?? 'application/octet-stream', etag, bodies }]
  })
  return new Map(await Promise.all(pairs))
}
