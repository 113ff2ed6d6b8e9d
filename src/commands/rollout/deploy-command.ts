import { one } from '../../client/answers.ts'
import { maxCheckTimes, maxPort } from '../../contract/limits.ts'
import { leastCheckStatus, mostCheckStatus } from '../../domain/rollout/check.ts'
import { parseMegabytes } from '../instance/port-text.ts'
import { variablesOf } from '../instance/run-command.ts'
import { collected, numberOption, usage } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import { follow } from './follow.ts'
import { readMilliseconds, readPercent, readSeconds, readSteps } from './option-text.ts'
import { sentenceOf } from './words.ts'

/** What the new version has that the present one has not, and how it is brought in. */
interface DeployOptions {
  readonly image?: string
  readonly memory?: number
  readonly vcpus?: number
  readonly env?: readonly string[]
  readonly envFile?: string
  readonly unset?: readonly string[]
  readonly canary?: number[]
  readonly bake?: number
  readonly checkPort?: number
  readonly checkPath?: string
  readonly checkStatus?: number
  readonly checkTimes?: number
  readonly checkInterval?: number
  readonly checkTimeout?: number
  readonly checkLimit?: number
  readonly maxErrors?: number
  readonly maxLatency?: number
  readonly keep?: number
  readonly supersede?: true
  readonly detach?: true
}

const ports = { min: 1, max: maxPort }
const statuses = { min: leastCheckStatus, max: mostCheckStatus }
const times = { min: 1, max: maxCheckTimes }

export function addDeployCommand({ program, session, deps }: CommandLine): void {
  const command = program
    .command('deploy <service> [args...]')
    .description('bring a new version of the instances of a service in beside the old one')
    .option('--image <image>', 'another image, or another version of it')
    .option('-m, --memory <size>', 'its memory, such as 256M or 1G', parseMegabytes)
    .option('--vcpus <number>', 'its processors', numberOption('--vcpus', { min: 1, max: 1_000 }))
    .option('-e, --env <NAME=value>', 'add or replace a variable; NAME alone takes the value here', collected)
    .option('--env-file <file>', 'a file with a NAME=value per line, or - for standard input')
    .option('--unset <NAME>', 'remove a variable; several times', collected)
  addPlanOptions(command)
    .option('--supersede', 'end a rollout that is under way, as if it went back')
    .option('--detach', 'do not follow it')
    .addHelpText(
      'after',
      '\nNew arguments of the application stand after --, as in `roost deploy web -- --verbose`.' +
        '\nCtrl-C ends only this command: the rollout goes on. `roost rollback` goes back.',
    )
    .action(async (service: string, args: readonly string[], options: DeployOptions) => {
      const body = await requestOf(args, options, deps)
      await deploy(await session(), { service, body, isDetached: options.detach === true })
    })
}

function addPlanOptions(command: CommandLine['program']): CommandLine['program'] {
  return command
    .option('--canary <steps>', 'the traffic in each step, in percent: 5,50,100', readSteps('--canary'))
    .option('--bake <time>', 'how long each step is watched, such as 30s', readSeconds('--bake'))
    .option('--check-port <port>', "the application's port to check", numberOption('--check-port', ports))
    .option('--check-path <path>', 'ask for this path by HTTP, not only for a connection')
    .option(
      '--check-status <number>',
      'the status that it has to answer; default: 200 to 399',
      numberOption('--check-status', statuses),
    )
    .option(
      '--check-times <number>',
      'so many checks in a row have to succeed',
      numberOption('--check-times', times),
    )
    .option('--check-interval <time>', 'from one check to the next', readMilliseconds('--check-interval'))
    .option('--check-timeout <time>', 'the longest time of one check', readMilliseconds('--check-timeout'))
    .option('--check-limit <time>', 'go back if one is not healthy by then', readSeconds('--check-limit'))
    .option(
      '--max-errors <percent>',
      'go back if more requests fail, such as 5%',
      readPercent('--max-errors'),
    )
    .option(
      '--max-latency <time>',
      'go back if 95 % of the requests take longer, such as 500ms',
      readMilliseconds('--max-latency'),
    )
    .option('--keep <time>', 'how long the old version is kept, such as 1h', readSeconds('--keep'))
}

async function requestOf(args: readonly string[], options: DeployOptions, deps: CommandLine['deps']) {
  const { image, memory, vcpus, unset = [], canary, bake, maxErrors, maxLatency, keep } = options
  const env = await variablesOf(options, deps)
  const check = checkOf(options)
  return {
    ...(image !== undefined && { image }),
    ...(args.length > 0 && { args: [...args] }),
    ...(memory !== undefined && { memory_mb: memory }),
    ...(vcpus !== undefined && { vcpus }),
    ...(Object.keys(env).length > 0 && { add: { env } }),
    ...(unset.length > 0 && { del: { env: [...unset] } }),
    ...(canary !== undefined && { canary }),
    ...(bake !== undefined && { bake_s: bake }),
    ...(Object.keys(check).length > 0 && { check }),
    ...(maxErrors !== undefined && { max_error_percent: maxErrors }),
    ...(maxLatency !== undefined && { max_latency_ms: maxLatency }),
    ...(keep !== undefined && { keep_s: keep }),
    ...(options.supersede && { supersede: true }),
  }
}

function checkOf({ checkPort, checkPath, checkStatus, checkTimes, ...options }: DeployOptions) {
  if (checkStatus !== undefined && checkPath === undefined)
    throw usage('--check-status is for a check by HTTP: give --check-path, too')
  const { checkInterval, checkTimeout, checkLimit } = options
  return {
    ...(checkPort !== undefined && { port: checkPort }),
    ...(checkPath !== undefined && { path: checkPath }),
    ...(checkStatus !== undefined && { status: checkStatus }),
    ...(checkTimes !== undefined && { times: checkTimes }),
    ...(checkInterval !== undefined && { interval_ms: checkInterval }),
    ...(checkTimeout !== undefined && { timeout_ms: checkTimeout }),
    ...(checkLimit !== undefined && { limit_s: checkLimit }),
  }
}

async function deploy(
  session: Session,
  {
    service,
    body,
    isDetached,
  }: {
    readonly service: string
    readonly body: Awaited<ReturnType<typeof requestOf>>
    readonly isDetached: boolean
  },
): Promise<void> {
  const params = { path: { object: service } }
  const { uuid, name, rollout } = one(
    await session.client.POST('/v1/services/{object}/rollouts', { params, body }),
  )
  const hint = `\`roost rollouts ${name}\` shows how it goes`
  if (isDetached) session.answer({ json: rollout, text: `${sentenceOf({ name, rollout })}; ${hint}` })
  else await follow(session, { service: { uuid, name }, rollout, wanted: 'next' })
}
