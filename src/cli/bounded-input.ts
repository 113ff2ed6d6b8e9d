import { createReadStream } from 'node:fs'
import process from 'node:process'
import { CliFailure } from './cli-failure.ts'

/**
 * The text of a file, or of standard input for `-`. Throws `CliFailure` if it can not be read or is larger
 * than `maxBytes`.
 */
export async function readBounded(file: string, maxBytes: number): Promise<string> {
  const name = inputName(file)
  const source = file === '-' ? process.stdin : createReadStream(file)
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of source as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > maxBytes) throw new CliFailure(`${name} is larger than ${maxBytes} bytes`)
      pieces.push(piece)
    }
  } catch (error) {
    if (error instanceof CliFailure) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new CliFailure(`${name} can not be read: ${why}`, { cause: error })
  }
  return Buffer.concat(pieces).toString('utf8')
}

export function inputName(file: string): string {
  return file === '-' ? 'standard input' : file
}
