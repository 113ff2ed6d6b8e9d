import { entriesOf, one, succeeded } from '../../client/answers.ts'
import type { Entry, Schemas } from '../../client/answers.ts'
import { ExplainedKind } from '../../client/explanation.ts'
import { explain } from '../instance/explain-command.ts'
import type { Column } from '../output.ts'
import { identified, numberOption, queryOf, tellEach, usage } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import { readConfiguration } from './configuration-file.ts'
import { addTryCommand } from './try-command.ts'

type Autoscale = Entry<'GetAutoscaleAnswer'>

interface CreateOptions {
  readonly config?: string
  readonly master?: string
  readonly min?: number
  readonly max?: number
}

const size = { min: 0, max: 1_000_000 }

export function addAutoscaleCommands({ program, session }: CommandLine): void {
  const autoscale = program.command('autoscale').description('more instances while there is load')
  autoscale
    .command('ls [services...]')
    .description('list services, and how they are scaled')
    .action(async (names: readonly string[]) => list(await session(), names))
  autoscale
    .command('create <service>')
    .description('scale a service')
    .option('--config <file>', "sizes, times and policies in the API's JSON, or - for standard input")
    .option('--master <instance>', 'the instance from which the others are made')
    .option('--min <number>', 'the fewest instances', numberOption('--min', size))
    .option('--max <number>', 'the most instances', numberOption('--max', size))
    .action(async (object: string, options: CreateOptions) => create(await session(), object, options))
  autoscale
    .command('inspect <service>')
    .description('show everything that the API says of how a service is scaled')
    .action(async (object: string) => {
      const open = await session()
      const params = { path: { object } }
      const found = one(await open.client.GET('/v1/services/{object}/autoscale', { params }))
      open.answer({ json: found, text: JSON.stringify(found, undefined, 2) })
    })
  autoscale
    .command('explain <service>')
    .description('say how a service is scaled, and why')
    .action(async (object: string) => explain(await session(), object, [ExplainedKind.Autoscale]))
  addTryCommand(autoscale, session)
  autoscale
    .command('rm <services...>')
    .description('scale services no more, and give their clones back')
    .action(async (names: readonly string[]) => {
      const open = await session()
      const answer = await open.client.DELETE('/v1/services/autoscale', { params: { query: queryOf(names) } })
      tellEach(open, entriesOf(answer), ({ name }) => `${name} is not scaled any more`)
    })
}

async function create(session: Session, object: string, options: CreateOptions): Promise<void> {
  const { client, deps } = session
  const { config, master, min, max } = options
  const given = await readConfiguration(deps, config)
  const body = {
    ...given,
    ...(master !== undefined && { master: identified(master) }),
    ...(min !== undefined && { min_size: min }),
    ...(max !== undefined && { max_size: max }),
  } as Schemas['CreateAutoscaleParameters']
  if (!('master' in body))
    throw usage('the master is missing: give --master <instance>, or name it in --config')
  const made = one(
    await client.POST('/v1/services/{object}/autoscale', { params: { path: { object } }, body }),
  )
  session.answer({ json: made, text: `${made.name} is scaled` })
}

async function list(session: Session, names: readonly string[]): Promise<void> {
  const shape: readonly Column<Autoscale>[] = [
    { title: 'SERVICE', text: ({ name }) => name, shrinks: true },
    { title: 'SCALED', text: ({ status }) => (status === 'unconfigured' ? 'no' : 'yes') },
    { title: 'SIZE', text: sizeText },
    { title: 'MASTER', text: ({ master }) => master?.name ?? '', shrinks: true },
    {
      title: 'POLICIES',
      text: ({ policies = [] }) => policies.map(({ name }) => name).join(','),
      shrinks: true,
    },
  ]
  const params = { query: queryOf(names) }
  session.list(succeeded(await session.client.GET('/v1/services/autoscale', { params })), shape)
}

function sizeText({ min_size: min, max_size: max }: Autoscale): string {
  return min === undefined ? '' : `${min} to ${max}`
}
