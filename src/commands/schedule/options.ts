import type { Command } from 'commander'
import { maxRunTimeoutSeconds } from '../../contract/limits.ts'
import { ScheduleActionType } from '../../domain/schedule/action.ts'
import { OverlapPolicy, catchUpRangeS } from '../../domain/schedule/overlap.ts'
import { parseMegabytes, parseMount } from '../instance/port-text.ts'
import { variablesOf } from '../instance/run-command.ts'
import { collected, numberOption, usage } from '../session.ts'
import type { CommandLine } from '../session.ts'

/** The options of `create` and `set`. */
export interface ScheduleOptions {
  readonly cron?: string
  readonly timeZone?: string
  readonly catchUp?: number
  readonly overlap?: OverlapPolicy
  readonly start?: readonly string[]
  readonly stop?: readonly string[]
  readonly run?: string
  readonly rollout?: string
  readonly image?: string
  readonly memory?: number
  readonly vcpus?: number
  readonly env?: readonly string[]
  readonly envFile?: string
  readonly volume?: readonly string[]
  readonly timeout?: number
}

/** The options that say something about the instance of a run. */
const ofRun = [
  'memory',
  'vcpus',
  'env',
  'envFile',
  'volume',
  'timeout',
] as const satisfies readonly (keyof ScheduleOptions)[]

export function addScheduleOptions(command: Command): Command {
  return command
    .option('--time-zone <name>', 'of the expression, such as Europe/Berlin; default: UTC')
    .option('--start <instance>', 'start an instance; several times', collected)
    .option('--stop <instance>', 'stop an instance; several times', collected)
    .option('--run <image>', 'run an image to its end; its arguments stand after --')
    .option('--rollout <service>', 'roll out a new version of a service')
    .option('--image <image>', 'the image of the new version; its arguments stand after --')
    .option('-m, --memory <size>', 'the memory of a run or version, such as 256M or 1G', parseMegabytes)
    .option('--vcpus <number>', 'its processors', numberOption('--vcpus', { min: 1, max: 1_000 }))
    .option('-e, --env <NAME=value>', 'a variable; NAME alone takes the value that it has here', collected)
    .option('--env-file <file>', 'a file with a NAME=value per line, or - for standard input')
    .option('-v, --volume <volume:path[:ro]>', 'attach a volume', collected)
    .option(
      '--timeout <s>',
      'stop a run after this time',
      numberOption('--timeout', { min: 1, max: maxRunTimeoutSeconds }),
    )
    .option(
      '--overlap <policy>',
      `if a run is due during another: ${Object.values(OverlapPolicy).join(', ')}`,
    )
    .option(
      '--catch-up <s>',
      'make up for a missed run within this time',
      numberOption('--catch-up', catchUpRangeS),
    )
}

/** The parts of a schedule that the options name, beside its action. */
export function partsOf({ cron, timeZone, catchUp, overlap }: ScheduleOptions) {
  return {
    ...(cron !== undefined && { cron }),
    ...(timeZone !== undefined && { time_zone: timeZone }),
    ...(catchUp !== undefined && { catch_up_s: catchUp }),
    ...(overlap !== undefined && { overlap }),
  }
}

/** The action that the options name. Undefined if they name none. */
export async function actionOf(options: ScheduleOptions, args: readonly string[], deps: CommandLine['deps']) {
  const { start, stop, run } = options
  const given = Object.values(ScheduleActionType).filter((type) => options[type] !== undefined)
  if (given.length > 1) throw usage('give only one of --start, --stop, --run and --rollout')
  if (options.rollout !== undefined) return await rolloutOf(options.rollout, { options, args, deps })
  if (options.image !== undefined)
    throw usage("'image' is that of a new version, so it needs --rollout <service>")
  const stray = ofRun.find((name) => options[name] !== undefined) ?? args[0]
  if (run === undefined && stray !== undefined)
    throw usage(`'${stray}' says how a run is to be, so it needs --run <image>`)
  if (start !== undefined) return { start: { instances: [...start] } }
  if (stop !== undefined) return { stop: { instances: [...stop] } }
  if (run === undefined) return undefined
  const env = await variablesOf(options, deps)
  return {
    run: {
      image: run,
      ...(args.length > 0 && { args: [...args] }),
      ...(Object.keys(env).length > 0 && { env }),
      ...(options.memory !== undefined && { memory_mb: options.memory }),
      ...(options.vcpus !== undefined && { vcpus: options.vcpus }),
      ...(options.volume !== undefined && { volumes: options.volume.map(parseMount) }),
      ...(options.timeout !== undefined && { timeout_s: options.timeout }),
    },
  }
}

/** A rollout with the plan that the API has by default. */
async function rolloutOf(
  service: string,
  of: {
    readonly options: ScheduleOptions
    readonly args: readonly string[]
    readonly deps: CommandLine['deps']
  },
) {
  const { options, args, deps } = of
  const stray = (['volume', 'timeout'] as const).find((name) => options[name] !== undefined)
  if (stray !== undefined) throw usage(`'${stray}' says how a run is to be, and a rollout has none`)
  const env = await variablesOf(options, deps)
  return {
    rollout: {
      service,
      ...(options.image !== undefined && { image: options.image }),
      ...(args.length > 0 && { args: [...args] }),
      ...(Object.keys(env).length > 0 && { add: { env } }),
      ...(options.memory !== undefined && { memory_mb: options.memory }),
      ...(options.vcpus !== undefined && { vcpus: options.vcpus }),
    },
  }
}
