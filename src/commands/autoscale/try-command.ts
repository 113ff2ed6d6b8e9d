import type { Command } from 'commander'
import { trialTimes } from '../../domain/autoscale/trial.ts'
import type { TrialTime } from '../../domain/autoscale/trial.ts'
import { one } from '../../client/answers.ts'
import type { Entry, Schemas } from '../../client/answers.ts'
import type { Column } from '../output.ts'
import { fittedTable } from '../output.ts'
import { usage } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import { readConfiguration } from './configuration-file.ts'

type Trial = Entry<'TryAutoscaleAnswer'>

interface TryOptions {
  readonly config?: string
  readonly last: TrialTime
}

const times = Object.keys(trialTimes) as readonly TrialTime[]

export function addTryCommand(autoscale: Command, session: CommandLine['session']): void {
  autoscale
    .command('try <service>')
    .description('say what a configuration would have done with the recorded load, without a change')
    .option(
      '--config <file>',
      "sizes, times and policies in the API's JSON, or -; what it lacks is as at present",
    )
    .option('--last <time>', `the recorded time: ${times.join(' or ')}`, readTime, times[0])
    .action(async (object: string, options: TryOptions) => tryOut(await session(), object, options))
}

function readTime(text: string): TrialTime {
  const time = times.find((each) => each === text)
  if (time === undefined) throw usage(`'${text}' is no recorded time: it is ${times.join(' or ')}`)
  return time
}

async function tryOut(session: Session, object: string, { config, last }: TryOptions): Promise<void> {
  const { client, deps } = session
  const given = await readConfiguration(deps, config)
  // The same file serves the creation, which needs a master.
  const { master: _master, ...wishes } = given as { readonly master?: unknown }
  const body = { ...wishes, last } as Schemas['TryAutoscaleParameters']
  const trial = one(
    await client.POST('/v1/services/{object}/autoscale/try', { params: { path: { object } }, body }),
  )
  session.answer({ json: trial, text: `${trial.text}\n${decisionsText(trial, deps.columns)}` })
}

const shape: readonly Column<Trial['decisions'][number]>[] = [
  { title: 'TIME', text: ({ at }) => at },
  { title: 'DECISION', text: ({ what }) => what, shrinks: true },
]

function decisionsText({ decisions }: Trial, columns: number | undefined): string {
  return decisions.length === 0
    ? 'Nothing would have been decided.'
    : `\n${fittedTable(decisions, shape, columns)}`
}
