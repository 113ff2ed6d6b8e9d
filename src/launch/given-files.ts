import { chown, mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { replaceFile } from '../primitives/replace-file.ts'
import type { UserIds } from './parts/part-users.ts'

/** An operator's file, such as a private key that only root can read, and the copy that a part reads. */
export interface GivenFile {
  readonly from: string
  readonly to: string
}

/** The time between two rounds of copies. The part itself reads its copy once a minute. */
const copyEveryMs = 15_000

/**
 * Keeps copies of files that the operator may replace at any time, until `signal` aborts. If a file can not
 * be read, its copy stays as it is. Resolves when the first copies are made.
 */
export async function keepCopies(
  files: readonly GivenFile[],
  owner: UserIds,
  onProblem: (message: string, error: unknown) => void,
  { everyMs = copyEveryMs, signal }: { readonly everyMs?: number; readonly signal?: AbortSignal } = {},
): Promise<void> {
  const told = new Set<string>()
  const copyAll = async (): Promise<void> => {
    for (const file of files) {
      await copy(file, owner).then(
        () => told.delete(file.from),
        (error: unknown) => {
          if (!told.has(file.from)) onProblem(`${file.from} can not be read`, error)
          told.add(file.from)
        },
      )
    }
  }
  await copyAll()
  let copying: Promise<void> | undefined
  // Two rounds never run at once: each copy is written under a fixed name and then renamed, so two rounds
  // would write to the same file.
  const timer = setInterval(() => {
    copying ??= copyAll().finally(() => (copying = undefined))
  }, everyMs).unref()
  signal?.addEventListener('abort', () => clearInterval(timer))
}

async function copy({ from, to }: GivenFile, { uid, gid }: UserIds): Promise<void> {
  const content = await readFile(from)
  const before = await readFile(to).catch(() => undefined)
  if (before?.equals(content) === true) return
  await mkdir(path.dirname(to), { recursive: true, mode: 0o700 })
  await chown(path.dirname(to), uid, gid)
  await replaceFile(to, content, { mode: 0o600, owner: { uid, gid } })
}
