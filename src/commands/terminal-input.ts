import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { ProgramTerminal } from './command-deps.ts'
import { CommandFailure } from './command-failure.ts'

/** Reads a line from the terminal without showing it. */
export async function readHidden(prompt: string): Promise<string> {
  process.stderr.write(prompt)
  // Readline echoes what is typed into its output, so that leads nowhere.
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  const ended = new AbortController()
  // Ctrl-C and Ctrl-D reach a terminal in this mode as keys, and nothing else would end the question.
  lines.once('SIGINT', () => ended.abort()).once('close', () => ended.abort())
  try {
    return await lines.question('', { signal: ended.signal })
  } catch (cause) {
    throw ended.signal.aborted ? new CommandFailure('nothing was given', { cause }) : cause
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}

/**
 * Node's raw mode is about keys alone: the terminal goes on putting a carriage return before each newline,
 * which the terminal in the instance has done already, or which a program there does not want. Node has no
 * way to change that. Where there is no `stty`, it stays. The end of raw mode gives back what was before.
 */
function passOutputOn(): void {
  spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] })
}

/** The terminal or the pipes of this process. */
export function openTerminal(): ProgramTerminal {
  const { stdout, stderr } = process
  const size = () => (stdout.isTTY ? { rows: stdout.rows, columns: stdout.columns } : undefined)
  return {
    // Only a command that reads its input may open it.
    get input() {
      return process.stdin
    },
    output: stdout,
    errorOutput: stderr,
    get isInteractive() {
      return process.stdin.isTTY && stdout.isTTY
    },
    size,
    setRaw: (raw) => {
      if (!process.stdin.isTTY) return
      process.stdin.setRawMode(raw)
      if (raw) passOutputOn()
    },
    onResize: (listener) => {
      const tell = () => {
        const now = size()
        if (now !== undefined) listener(now)
      }
      stdout.on('resize', tell)
      return () => void stdout.off('resize', tell)
    },
  }
}
