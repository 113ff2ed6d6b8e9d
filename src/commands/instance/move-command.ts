import { entriesOf, failureOfEntry, isFailed } from '../../client/answers.ts'
import { FailureCode } from '../../client/api-failure.ts'
import { maxWaitMs } from '../../contract/limits.ts'
import { CommandFailure } from '../command-failure.ts'
import { identified, numberOption } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import { withProgress } from '../progress.ts'

interface MoveOptions {
  readonly wait: boolean
  readonly timeout: number
}

/** The commands for instances that only administrators use. */
export function addInstanceCommands({ program, session }: CommandLine): void {
  const instance = program
    .command('instance')
    .description('instances of any account, on the hosts of the installation (for administrators)')
  instance
    .command('move <instance> <host>')
    .description(
      'move an instance to another host, with its memory and its address; name that of another account by its UUID',
    )
    .option('--no-wait', 'do not wait')
    .option('--timeout <s>', 'wait no longer', numberOption('--timeout', { min: 1, max: 86_400 }), 3_600)
    .action(async (name: string, host: string, options: MoveOptions) =>
      move(await session(), { name, host }, options),
    )
}

async function move(
  session: Session,
  { name, host }: { readonly name: string; readonly host: string },
  { wait, timeout }: MoveOptions,
): Promise<void> {
  const deadline = Date.now() + timeout * 1_000
  for (;;) {
    const leftMs = wait ? Math.max(1, Math.min(maxWaitMs, deadline - Date.now())) : 0
    const body = [{ ...identified(name), host, wait_timeout_ms: leftMs }]
    const ask = async () => entriesOf(await session.client.PUT('/v1/instances/move', { body }))
    const [entry] = await withProgress(session, () => `${name}: moves to ${host}`, ask)
    if (entry === undefined) throw new CommandFailure('the answer of the API has no entry')
    if (!isFailed(entry)) {
      const text = entry.is_moving ? `${entry.name} moves to ${host}` : `${entry.name} is on ${entry.host}`
      return session.answer({ json: entry, text })
    }
    // To ask again for a move that is under way only waits for it.
    if (entry.error !== FailureCode.TimedOut || Date.now() >= deadline) throw failureOfEntry(entry)
  }
}
