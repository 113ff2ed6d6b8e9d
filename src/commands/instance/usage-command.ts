import type { Command } from 'commander'
import { usageSteps } from '../../domain/instance/usage-history.ts'
import type { UsageStep } from '../../domain/instance/usage-history.ts'
import { one } from '../../client/answers.ts'
import type { Entry } from '../../client/answers.ts'
import { bytesText } from '../output.ts'
import type { Column } from '../output.ts'
import { numberOption, usage } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'

type History = Entry<'GetServiceUsageAnswer'>
type Step = History['usage'][number]

interface UsageOptions {
  readonly step: UsageStep
  readonly steps: number
}

const lengths = Object.keys(usageSteps) as readonly UsageStep[]
/** A minute by steps of 5 s, an hour by steps of 5 min. */
const defaultSteps = 12
const maxSteps = usageSteps['5m'].kept

export function addUsageCommand({ program, session }: CommandLine): void {
  withOptions(
    program.command('usage <instance>').description('show what an instance used, step by step'),
  ).action(async (object: string, options: UsageOptions) => {
    const open = await session()
    const params = { path: { object }, query: queryOf(options) }
    tell(open, one(await open.client.GET('/v1/instances/{object}/usage', { params })))
  })
}

/** Adds `service usage` to the commands about services. */
export function addServiceUsageCommand(service: Command, session: CommandLine['session']): void {
  withOptions(
    service
      .command('usage <service>')
      .description('show what all its instances used together, also those that are gone'),
  ).action(async (object: string, options: UsageOptions) => {
    const open = await session()
    const params = { path: { object }, query: queryOf(options) }
    tell(open, one(await open.client.GET('/v1/services/{object}/usage', { params })))
  })
}

function withOptions(command: Command): Command {
  return command
    .option('--step <length>', `the length of a step: ${lengths.join(' or ')}`, readLength, lengths[0])
    .option(
      '-n, --steps <number>',
      'how many steps back from now',
      numberOption('--steps', { min: 1, max: maxSteps }),
      defaultSteps,
    )
}

function readLength(text: string): UsageStep {
  const length = lengths.find((each) => each === text)
  if (length === undefined) throw usage(`'${text}' is no length of a step: it is ${lengths.join(' or ')}`)
  return length
}

function queryOf({ step, steps: limit }: UsageOptions) {
  return { step, limit: Math.min(limit, usageSteps[step].kept) }
}

function tell(session: Session, { usage: steps, step }: History): void {
  const lengthS = usageSteps[step].lengthMs / 1_000
  const shape: readonly Column<Step>[] = [
    { title: 'TIME', text: ({ at }) => at },
    { title: 'RAN', text: ({ seen_ms: ms }) => (ms / 1_000 / lengthS).toFixed(1) },
    { title: 'CPU', text: ({ cpu_time_ms: ms }) => `${(ms / lengthS / 10).toFixed(1)} %` },
    { title: 'MEMORY', text: ({ rss_bytes: bytes }) => bytesText(bytes) },
    { title: 'RECEIVED', text: ({ rx_bytes: bytes }) => `${bytesText(bytes / lengthS)}/s` },
    { title: 'SENT', text: ({ tx_bytes: bytes }) => `${bytesText(bytes / lengthS)}/s` },
    { title: 'REQS', text: ({ nrequests }) => `${(nrequests / lengthS).toFixed(1)}/s` },
    { title: 'WAKES', text: ({ nwakes }) => String(nwakes) },
  ]
  session.list(steps, shape)
}
