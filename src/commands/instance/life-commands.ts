import { entriesOf, isFailed } from '../../client/answers.ts'
import { numberOption, identified, queryOf, tellEach } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import { awaitRunning } from './run-command.ts'

interface StartOptions {
  readonly wait: boolean
  readonly timeout: number
}
interface StopOptions {
  readonly force?: true
  readonly drain?: number
}

export function addLifeCommands({ program, session }: CommandLine): void {
  program
    .command('start <instances...>')
    .description('start instances, and wait until they run')
    .option('--no-wait', 'do not wait')
    .option('--timeout <s>', 'wait no longer', numberOption('--timeout', { min: 1, max: 86_400 }), 300)
    .action(async (names: readonly string[], options: StartOptions) => start(await session(), names, options))
  program
    .command('stop <instances...>')
    .description('stop instances')
    .option('--force', 'end them at once, without a shutdown')
    .option(
      '--drain <ms>',
      'let open requests end first',
      numberOption('--drain', { min: 0, max: 86_400_000 }),
    )
    .action(async (names: readonly string[], options: StopOptions) => stop(await session(), names, options))
  program
    .command('rm <instances...>')
    .description('delete instances; what they wrote to volumes stays')
    .action(async (names: readonly string[]) => remove(await session(), names))
}

async function start(
  session: Session,
  names: readonly string[],
  { wait, timeout }: StartOptions,
): Promise<void> {
  const deadline = Date.now() + timeout * 1000
  const body = names.map(identified)
  const entries = entriesOf(await session.client.PUT('/v1/instances/start', { body }))
  if (wait)
    for (const entry of entries) if (!isFailed(entry)) await awaitRunning(session, entry.uuid, deadline)
  tellEach(session, entries, ({ name, state }) => (wait ? `${name} was started` : `${name} is ${state}`))
}

async function stop(
  session: Session,
  names: readonly string[],
  { force, drain }: StopOptions,
): Promise<void> {
  const body = names.map((name) => ({
    ...identified(name),
    ...(force && { force }),
    ...(drain !== undefined && { drain_timeout_ms: drain }),
  }))
  const entries = entriesOf(await session.client.PUT('/v1/instances/stop', { body }))
  tellEach(session, entries, ({ name, state }) => `${name} is ${state}`)
}

async function remove(session: Session, names: readonly string[]): Promise<void> {
  const query = queryOf(names)
  const entries = entriesOf(await session.client.DELETE('/v1/instances', { params: { query } }))
  tellEach(session, entries, ({ name }) => `${name} is deleted`)
}
