import { one } from '../../client/answers.ts'
import { readLog } from '../../client/log-reader.ts'
import { followLog } from '../../client/log-stream.ts'
import { pause } from '../../client/pause.ts'
import { numberOption, untilInterrupted, usage } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'

/** One wait for the end of an instance, and the pause before the next question. */
const oneWaitMs = 60_000
const againMs = 500

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
    .action(async (object: string, { follow: follows = false, tail }: LogOptions) => {
      const open = await session()
      if (open.wantsJson && follows)
        throw usage('a log that is followed has no JSON form: leave out -f or -o json')
      const offset = tail === undefined ? 0 : -tail
      await untilInterrupted(open.deps, async () =>
        follows ? follow(open, object, offset) : read(open, object, offset),
      )
    })
}

async function read({ client, deps, wantsJson }: Session, object: string, offset: number): Promise<void> {
  const pieces: Uint8Array[] = []
  for await (const bytes of readLog(client, { object, offset, signal: deps.signal })) {
    if (wantsJson) pieces.push(bytes)
    else deps.write(bytes)
  }
  if (wantsJson) deps.write(`${JSON.stringify({ output: Buffer.concat(pieces).toString('utf8') })}\n`)
}

/**
 * Writes what is there and what follows, until the instance is stopped for good. What happens to the stream
 * is told beside it.
 */
async function follow(session: Session, object: string, from: number): Promise<void> {
  const { access, deps } = session
  const over = new AbortController()
  const signal = AbortSignal.any([deps.signal, over.signal])
  let offset = from
  let isDeleted = false
  void abortAtRest(session, object, over)
  try {
    for await (const message of followLog(access, { object, offset, signal })) {
      if (message.kind === 'log') {
        deps.write(message.bytes)
        offset = message.range.end
      } else if (message.kind === 'lost') {
        deps.note(`roost: ${message.failure.message}; trying again\n`)
      } else {
        deps.note(`roost: ${message.message}\n`)
        isDeleted = message.kind === 'end'
      }
    }
  } finally {
    over.abort()
  }
  // What it printed last may have come after the stream was ended.
  if (!isDeleted) await read(session, object, offset)
}

/** Aborts `over` when the instance is stopped and no restart follows. */
async function abortAtRest({ client, deps }: Session, object: string, over: AbortController): Promise<void> {
  const signal = AbortSignal.any([deps.signal, over.signal])
  const params = { path: { object } }
  const stopped = { ...params, query: { state: 'stopped' as const, timeout_ms: oneWaitMs } }
  while (!signal.aborted) {
    try {
      await client.GET('/v1/instances/{object}/wait', { params: stopped, signal })
      const { state, restart } = one(await client.GET('/v1/instances/{object}', { params, signal }))
      if (state === 'stopped' && restart?.next_at === undefined) over.abort()
    } catch {
      // The stream is asked at the same time, and says what is wrong.
    }
    await pause(againMs, signal)
  }
}
