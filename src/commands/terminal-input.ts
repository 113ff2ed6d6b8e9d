import { createReadStream } from 'node:fs'
import process from 'node:process'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { CommandFailure } from './command-failure.ts'

const maxSecretBytes = 10_000

/** The text of a file, or of standard input for `-`. */
export async function readFileText(file: string, maxBytes: number): Promise<string> {
  const name = file === '-' ? 'standard input' : file
  const source = file === '-' ? process.stdin : createReadStream(file)
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of source as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > maxBytes) throw new CommandFailure(`${name} is larger than ${maxBytes} bytes`)
      pieces.push(piece)
    }
  } catch (cause) {
    if (cause instanceof CommandFailure) throw cause
    throw new CommandFailure(`${name} can not be read: ${(cause as Error).message}`, { cause })
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** Reads a line from the terminal without showing it, or all of standard input if that is no terminal. */
export async function readSecret(prompt: string): Promise<string> {
  if (!process.stdin.isTTY) return await readFileText('-', maxSecretBytes)
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
