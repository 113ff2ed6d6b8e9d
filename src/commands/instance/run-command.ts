import { FailureCode } from '../../client/api-failure.ts'
import { entriesOf, failureOfEntry, isFailed, one } from '../../client/answers.ts'
import type { Entry } from '../../client/answers.ts'
import { maxCooldownMs } from '../../contract/limits.ts'
import { CommandFailure, ExitCode } from '../command-failure.ts'
import { publicUrls } from '../service/public-url.ts'
import { withProgress } from '../progress.ts'
import { collected, identified, numberOption, usage } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import type { PortText } from './port-text.ts'
import {
  parseDomain,
  parseMegabytes,
  parseMount,
  parsePort,
  parseSleep,
  parseVariables,
} from './port-text.ts'

interface RunOptions {
  readonly name?: string
  readonly port?: readonly string[]
  readonly domain?: readonly string[]
  readonly service?: string
  readonly memory?: number
  readonly vcpus?: number
  readonly env?: readonly string[]
  readonly envFile?: string
  readonly volume?: readonly string[]
  readonly restart?: 'never' | 'always' | 'on-failure'
  readonly scaleToZero?: string
  readonly cooldown?: number
  readonly wait: boolean
  readonly timeout: number
}

/** What a request to create an instance can say with this command. */
interface InstanceRequest {
  image: string
  name?: string
  args?: string[]
  env?: Record<string, string>
  memory_mb?: number
  vcpus?: number
  restart_policy?: 'never' | 'always' | 'on-failure'
  service_group?: { uuid: string } | { name: string } | { services: PortText[]; domains: { name: string }[] }
  volumes?: { name: string; at: string; readonly: boolean }[]
  scale_to_zero?: { policy: 'off' | 'on' | 'idle'; stateful: boolean; cooldown_time_ms?: number }
  autostart: true
}

const maxEnvFileBytes = 1_000_000
/** The part of the wait that one request takes, so that proxies do not end it. */
const oneWaitMs = 30_000

export function addRunCommand({ program, session, deps }: CommandLine): void {
  program
    .command('run <image> [args...]')
    .description('create an instance from an image, and start it')
    .option('--name <name>', 'its name; default: one made from the image')
    .option('-p, --port <public:own>', 'publish a port, such as 443:8080; several times', collected)
    .option('--domain <name>', 'a public name: one label, or a name of your own with dots', collected)
    .option('--service <service>', 'attach it to a service that exists')
    .option('-m, --memory <size>', 'its memory, such as 256M or 1G', parseMegabytes)
    .option('--vcpus <number>', 'its processors', numberOption('--vcpus', { min: 1, max: 1_000 }))
    .option('-e, --env <NAME=value>', 'a variable; NAME alone takes the value that it has here', collected)
    .option('--env-file <file>', 'a file with a NAME=value per line, or - for standard input')
    .option('-v, --volume <volume:path[:ro]>', 'attach a volume', collected)
    .option('--restart <policy>', 'never, always or on-failure')
    .option('--scale-to-zero [=when]', 'sleep without traffic: on, idle, stateful (keeps the memory)')
    .option(
      '--cooldown <ms>',
      'sleep after this time',
      numberOption('--cooldown', { min: 0, max: maxCooldownMs }),
    )
    .option('--no-wait', 'do not wait until it runs')
    .option('--timeout <s>', 'wait no longer', numberOption('--timeout', { min: 1, max: 86_400 }), 300)
    .addHelpText(
      'after',
      '\nArguments of the application stand after --, as in `roost run app -- --verbose`.',
    )
    .action(async (image: string, args: readonly string[], options: RunOptions) => {
      const request = await requestOf(image, { args, options, deps })
      await run(await session(), request, options)
    })
}

async function requestOf(
  image: string,
  {
    args,
    options,
    deps,
  }: { readonly args: readonly string[]; readonly options: RunOptions } & Pick<CommandLine, 'deps'>,
): Promise<InstanceRequest> {
  const { port = [], domain = [], service, volume = [], scaleToZero, cooldown } = options
  if (cooldown !== undefined && scaleToZero === undefined)
    throw usage('--cooldown is for an instance that sleeps: give --scale-to-zero, too')
  const env = await variablesOf(options, deps)
  const published = { services: port.map(parsePort), domains: domain.map(parseDomain) }
  const isPublished = port.length + domain.length > 0
  if (service !== undefined && isPublished) {
    throw usage(
      '--service names a service that exists, so its ports and domains are set: leave out --port and --domain',
    )
  }
  return {
    image,
    ...(options.name !== undefined && { name: options.name }),
    ...(args.length > 0 && { args: [...args] }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(options.memory !== undefined && { memory_mb: options.memory }),
    ...(options.vcpus !== undefined && { vcpus: options.vcpus }),
    ...(options.restart !== undefined && { restart_policy: options.restart }),
    ...(service !== undefined && { service_group: identified(service) }),
    ...(service === undefined && isPublished && { service_group: published }),
    ...(volume.length > 0 && { volumes: volume.map(parseMount) }),
    ...(scaleToZero !== undefined && {
      scale_to_zero: {
        ...parseSleep(scaleToZero),
        ...(cooldown !== undefined && { cooldown_time_ms: cooldown }),
      },
    }),
    autostart: true,
  }
}

/** The variables of the options `--env-file` and `--env`; the second count first. */
export async function variablesOf(
  { envFile, env = [] }: Pick<RunOptions, 'env' | 'envFile'>,
  deps: CommandLine['deps'],
): Promise<Record<string, string>> {
  const fromFile = envFile === undefined ? '' : await deps.readFile(envFile, maxEnvFileBytes)
  const lines = fromFile.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  return parseVariables([...lines, ...env], deps.environment)
}

async function run(
  session: Session,
  request: InstanceRequest,
  { wait, timeout }: Pick<RunOptions, 'wait' | 'timeout'>,
): Promise<void> {
  const { client, deps } = session
  const deadline = Date.now() + timeout * 1000
  const waitMs = Math.min(oneWaitMs, timeout * 1000)
  const body = wait ? { ...request, wait_timeout_ms: waitMs } : request
  const progress = () => `${request.name ?? request.image}: gets its image, and boots`
  const [entry] = await withProgress(session, progress, async () =>
    entriesOf(await client.POST('/v1/instances', { body, signal: deps.signal })),
  )
  if (entry === undefined) throw new CommandFailure('the answer of the API has no entry')
  if (isFailed(entry)) {
    if (entry.error !== FailureCode.TimedOut || entry.uuid === undefined) throw failureOfEntry(entry)
    await awaitRunning(session, entry.uuid, deadline)
  }
  const params = { path: { object: entry.uuid! } }
  const instance = one(await client.GET('/v1/instances/{object}', { params }))
  session.answer({ json: instance, text: await sentenceOf(session, instance) })
}

/**
 * Waits while an instance starts, or ends before it starts again. Throws if its start fails, or if it takes
 * longer than the deadline.
 */
export async function awaitRunning(session: Session, object: string, deadlineMs: number): Promise<void> {
  const { client, deps } = session
  const path = { object }
  for (;;) {
    const { name, state, failure } = one(await client.GET('/v1/instances/{object}', { params: { path } }))
    if (failure !== undefined && state !== 'running')
      throw new CommandFailure(`${name} did not start: ${failure}`)
    if (!isOnItsWay(state)) return
    const leftMs = Math.min(oneWaitMs, deadlineMs - Date.now())
    if (leftMs <= 0) {
      const message = `${name} is still ${state}; \`roost ps ${name}\` shows how it goes, and --timeout waits longer`
      throw new CommandFailure(message, { exitCode: ExitCode.TimedOut })
    }
    const query = { state: 'running' as const, timeout_ms: leftMs }
    await withProgress(
      session,
      () => `${name}: gets its image, and boots`,
      async () => {
        await client.GET('/v1/instances/{object}/wait', { params: { path, query }, signal: deps.signal })
      },
    )
  }
}

function isOnItsWay(state: string | undefined): boolean {
  return state === 'starting' || state === 'draining' || state === 'stopping'
}

async function sentenceOf({ client }: Session, instance: Entry<'GetInstancesAnswer'>): Promise<string> {
  const { name, state, service_group: service, private_ip: address, boot_time_us: bootUs } = instance
  const boot =
    state === 'running' && bootUs !== undefined ? `, booted in ${Math.round(bootUs / 1000)} ms` : ''
  const urls = await publicUrls(client, service?.domains ?? [])
  return [`${name} is ${state}${boot}; its private address is ${address}`, ...urls].join('\n')
}
