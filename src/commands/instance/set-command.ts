import { one } from '../../client/answers.ts'
import type { Entry } from '../../client/answers.ts'
import { maxCooldownMs, maxDrainMs } from '../../contract/limits.ts'
import { collected, numberOption, usage } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import { parseMegabytes, parseSleep } from './port-text.ts'
import { awaitRunning, variablesOf } from './run-command.ts'

interface SetOptions {
  readonly image?: string
  readonly memory?: number
  readonly vcpus?: number
  readonly env?: readonly string[]
  readonly envFile?: string
  readonly unset?: readonly string[]
  readonly restart?: 'never' | 'always' | 'on-failure'
  readonly scaleToZero?: string
  readonly cooldown?: number
  readonly tag?: readonly string[]
  readonly untag?: readonly string[]
  readonly now?: true
  readonly drain?: number
  readonly wait: boolean
  readonly timeout: number
}

/** What a request to change an instance can say with this command. */
interface ChangeRequest {
  image?: string
  args?: string[]
  memory_mb?: number
  vcpus?: number
  restart_policy?: 'never' | 'always' | 'on-failure'
  scale_to_zero?: { policy?: 'off' | 'on' | 'idle'; stateful?: boolean; cooldown_time_ms?: number }
  add?: { env?: Record<string, string>; tags?: string[] }
  del?: { env?: string[]; tags?: string[] }
  restart?: true
  drain_timeout_ms?: number
}

export function addSetCommand({ program, session, deps }: CommandLine): void {
  program
    .command('set <instance> [args...]')
    .description('change an instance; what runs keeps its image, memory and variables until it restarts')
    .option('--image <image>', 'another image, or another version of it')
    .option('-m, --memory <size>', 'its memory, such as 256M or 1G', parseMegabytes)
    .option('--vcpus <number>', 'its processors', numberOption('--vcpus', { min: 1, max: 1_000 }))
    .option('-e, --env <NAME=value>', 'add or replace a variable; NAME alone takes the value here', collected)
    .option('--env-file <file>', 'a file with a NAME=value per line, or - for standard input')
    .option('--unset <NAME>', 'remove a variable; several times', collected)
    .option('--restart <policy>', 'never, always or on-failure')
    .option('--scale-to-zero [=when]', 'sleep without traffic: on, idle, stateful (keeps the memory) or off')
    .option(
      '--cooldown <ms>',
      'sleep after this time',
      numberOption('--cooldown', { min: 0, max: maxCooldownMs }),
    )
    .option('--tag <word>', 'add a tag; several times', collected)
    .option('--untag <word>', 'remove a tag; several times', collected)
    .option('--now', 'restart it, so that all takes effect; a kept memory is dropped')
    .option(
      '--drain <ms>',
      'with --now: how long open requests may take to end',
      numberOption('--drain', { min: 0, max: maxDrainMs }),
    )
    .option('--no-wait', 'with --now: do not wait until it runs')
    .option('--timeout <s>', 'wait no longer', numberOption('--timeout', { min: 1, max: 86_400 }), 300)
    .addHelpText(
      'after',
      '\nNew arguments of the application stand after --, as in `roost set web -- --verbose`.',
    )
    .action(async (name: string, args: readonly string[], options: SetOptions) => {
      const request = await requestOf(args, options, deps)
      await change(await session(), { name, request, options })
    })
}

async function requestOf(
  args: readonly string[],
  options: SetOptions,
  deps: CommandLine['deps'],
): Promise<ChangeRequest> {
  const { tag = [], untag = [], unset = [], scaleToZero, cooldown, drain, now } = options
  if (drain !== undefined && now !== true) throw usage('--drain is for a restart: give --now, too')
  const env = await variablesOf(options, deps)
  const sleep = {
    ...(scaleToZero !== undefined && parseSleep(scaleToZero)),
    ...(cooldown !== undefined && { cooldown_time_ms: cooldown }),
  }
  const add = {
    ...(Object.keys(env).length > 0 && { env }),
    ...(tag.length > 0 && { tags: [...tag] }),
  }
  const del = {
    ...(unset.length > 0 && { env: [...unset] }),
    ...(untag.length > 0 && { tags: [...untag] }),
  }
  return {
    ...(options.image !== undefined && { image: options.image }),
    ...(args.length > 0 && { args: [...args] }),
    ...(options.memory !== undefined && { memory_mb: options.memory }),
    ...(options.vcpus !== undefined && { vcpus: options.vcpus }),
    ...(options.restart !== undefined && { restart_policy: options.restart }),
    ...(Object.keys(sleep).length > 0 && { scale_to_zero: sleep }),
    ...(Object.keys(add).length > 0 && { add }),
    ...(Object.keys(del).length > 0 && { del }),
    ...(now && { restart: true }),
    ...(drain !== undefined && { drain_timeout_ms: drain }),
  }
}

async function change(
  session: Session,
  of: { readonly name: string; readonly request: ChangeRequest; readonly options: SetOptions },
): Promise<void> {
  const { name, request, options } = of
  if (Object.keys(request).length === 0) {
    throw usage('nothing to change was named; `roost set --help` has the options')
  }
  const deadline = Date.now() + options.timeout * 1000
  const params = { path: { object: name } }
  const changed = one(await session.client.PATCH('/v1/instances/{object}', { params, body: request }))
  if (changed.restarting && options.wait) await awaitRunning(session, changed.uuid, deadline)
  session.answer({ json: changed, text: sentenceOf(changed, options.wait) })
}

function sentenceOf(entry: Entry<'UpdateInstancesAnswer'>, waited: boolean): string {
  const { name, changed, needs_restart: waiting, restarting, memory_dropped: dropped, note } = entry
  const what = changed.length === 0 ? 'nothing of it is other than before' : `${listed(changed)} changed`
  const effects = [
    ...(restarting ? [waited ? 'it restarted' : 'it restarts'] : []),
    ...(dropped ? ['the memory that it had kept is dropped, and the next wake has the changes'] : []),
  ]
  const lines = [`${name}: ${[what, ...effects].join('; ')}`]
  if (note !== undefined) lines.push(note.replace("'restart'", '--now'))
  else if (waiting.length > 0) {
    lines.push(
      `${listed(waiting)} ${waiting.length === 1 ? 'waits' : 'wait'} for a restart: roost set ${name} --now`,
    )
  }
  return lines.join('\n')
}

function listed(names: readonly string[]): string {
  return names.join(', ')
}
