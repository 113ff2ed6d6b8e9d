import { readLog } from '../../client/log-reader.ts'
import { numberOption, untilInterrupted, usage } from '../session.ts'
import type { CommandLine } from '../session.ts'

interface LogOptions {
  readonly follow?: boolean
  readonly tail?: number
}

export function addLogCommand({ program, session }: CommandLine): void {
  program
    .command('logs <instance>')
    .description('write what an instance printed')
    .option('-f, --follow', 'go on with what it prints, until it is stopped')
    .option('--tail <bytes>', 'only the last bytes', numberOption('--tail', { min: 1, max: 1_000_000_000 }))
    .action(async (object: string, { follow = false, tail }: LogOptions) => {
      const { client, deps, wantsJson } = await session()
      if (wantsJson && follow) throw usage('a log that is followed has no JSON form: leave out -f or -o json')
      const offset = tail === undefined ? 0 : -tail
      const pieces: Uint8Array[] = []
      await untilInterrupted(deps, async () => {
        for await (const bytes of readLog(client, { object, offset, follow, signal: deps.signal })) {
          if (wantsJson) pieces.push(bytes)
          else deps.write(bytes)
        }
      })
      if (wantsJson) deps.write(`${JSON.stringify({ output: Buffer.concat(pieces).toString('utf8') })}\n`)
    })
}
