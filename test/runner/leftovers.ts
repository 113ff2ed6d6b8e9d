import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * The variable that marks the processes of a group. A group's process has the mark in its environment, and
 * its children inherit it. So all of them are found, even those that lost their parent. While the tests of a
 * file run, the mark names that file too.
 */
export const markVariable = 'ROOST_TEST_MARK'
const fileSeparator = ' '

export interface Leftover {
  readonly pid: number
  readonly command: string
  /** The file whose tests started the process; undefined if it belongs to no file. */
  readonly file?: string
}

export function fileMark(mark: string, file: string | undefined): string {
  return file === undefined ? mark : `${mark}${fileSeparator}${file}`
}

/** How long the children of an ended process may take to end themselves. */
const settleMs = 3_000
const pollMs = 100

/** The processes with the mark that are still alive after `settleMs`. */
export async function leftoversOf(mark: string): Promise<readonly Leftover[]> {
  const until = Date.now() + settleMs
  let found = marked(mark)
  while (found.length > 0 && Date.now() < until) {
    await delay(pollMs)
    found = marked(mark)
  }
  return found
}

export function killAll(leftovers: readonly { readonly pid: number }[]): void {
  for (const { pid } of leftovers) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has ended by itself.
    }
  }
}

export function marked(mark: string): readonly Leftover[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      const found = markOf(Number(name))
      if (found === mark) return [describe(Number(name))]
      const file = found?.startsWith(fileMark(mark, '')) ? found.slice(fileMark(mark, '').length) : undefined
      return file === undefined ? [] : [{ ...describe(Number(name)), file }]
    })
}

function markOf(pid: number): string | undefined {
  const entry = `${markVariable}=`
  const found = read(`/proc/${pid}/environ`)
    .split('\0')
    .find((one) => one.startsWith(entry))
  return found?.slice(entry.length)
}

export function describe(pid: number): Leftover {
  return { pid, command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim().slice(0, 200) }
}

/** Reads a file of /proc. Returns an empty text if the process has ended, or if we may not read the file. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
