import { entriesOf, isFailed, one } from '../../client/answers.ts'
import { maxDrainMs } from '../../contract/limits.ts'
import { maxSuspendDrainMs } from '../../domain/instance/lifecycle-suspend.ts'
import { CommandFailure, ExitCode } from '../command-failure.ts'
import { numberOption, identified, queryOf, tellEach } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import { awaitRunning } from './run-command.ts'

interface StartOptions {
  readonly wait: boolean
  readonly timeout: number
}
interface SuspendOptions {
  readonly drain?: number
  readonly wait: boolean
  readonly timeout: number
}
interface StopOptions {
  readonly force?: true
  readonly drain?: number
}

/** After this time without standby, a command looks whether the suspend has failed. */
const oneLookMs = 1_000

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
      numberOption('--drain', { min: 0, max: maxDrainMs }),
    )
    .action(async (names: readonly string[], options: StopOptions) => stop(await session(), names, options))
  program
    .command('suspend <instances...>')
    .description('send instances to standby, with their memory; a start or traffic wakes them')
    .option(
      '--drain <ms>',
      'how long open requests may take to end (default: 10000)',
      numberOption('--drain', { min: 0, max: maxSuspendDrainMs }),
    )
    .option('--no-wait', 'do not wait')
    .option('--timeout <s>', 'wait no longer', numberOption('--timeout', { min: 1, max: 86_400 }), 300)
    .action(async (names: readonly string[], options: SuspendOptions) =>
      suspend(await session(), names, options),
    )
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

async function suspend(
  session: Session,
  names: readonly string[],
  { drain, wait, timeout }: SuspendOptions,
): Promise<void> {
  const deadline = Date.now() + timeout * 1000
  const body = names.map((name) => ({
    ...identified(name),
    ...(drain !== undefined && { drain_timeout_ms: drain }),
  }))
  const entries = entriesOf(await session.client.PUT('/v1/instances/suspend', { body }))
  if (wait)
    for (const entry of entries) if (!isFailed(entry)) await awaitStandby(session, entry.uuid, deadline)
  tellEach(session, entries, ({ name, state }) => (wait ? `${name} was suspended` : `${name} is ${state}`))
}

/**
 * Waits until an instance sleeps, or something has woken it again. Throws if it could not be suspended, or if
 * it takes longer than the deadline.
 */
async function awaitStandby({ client, deps }: Session, object: string, deadlineMs: number): Promise<void> {
  const path = { object }
  const read = async () => one(await client.GET('/v1/instances/{object}', { params: { path } }))
  const before = await read()
  for (;;) {
    const { name, state, failure, start_count: starts } = await read()
    if (state === 'standby' || starts !== before.start_count) return
    if (failure !== undefined) throw new CommandFailure(`${name}: ${failure}`)
    if (state !== 'running' && state !== 'starting')
      throw new CommandFailure(`${name} was not suspended, because it is ${state}`)
    const leftMs = deadlineMs - Date.now()
    if (leftMs <= 0) {
      const message = `${name} is still ${state}; \`roost explain ${name}\` says why, and --timeout waits longer`
      throw new CommandFailure(message, { exitCode: ExitCode.TimedOut })
    }
    const query = { state: 'standby' as const, timeout_ms: Math.min(oneLookMs, leftMs) }
    await client.GET('/v1/instances/{object}/wait', { params: { path, query }, signal: deps.signal })
  }
}

async function remove(session: Session, names: readonly string[]): Promise<void> {
  const query = queryOf(names)
  const entries = entriesOf(await session.client.DELETE('/v1/instances', { params: { query } }))
  tellEach(session, entries, ({ name }) => `${name} is deleted`)
}
