import { entriesOf, one, succeeded } from '../../client/answers.ts'
import type { Entry } from '../../client/answers.ts'
import { ExplainedKind } from '../../client/explanation.ts'
import { keptRuns } from '../../contract/limits.ts'
import { explain } from '../instance/explain-command.ts'
import type { Column } from '../output.ts'
import { identified, numberOption, queryOf, tellEach, usage } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import { actionOf, addScheduleOptions, partsOf } from './options.ts'
import type { ScheduleOptions } from './options.ts'

type Schedule = Entry<'GetSchedulesAnswer'>
type Run = Entry<'GetScheduleRunsAnswer'>['runs'][number]

interface ScheduleLine extends Pick<CommandLine, 'session' | 'deps'> {
  readonly schedule: CommandLine['program']
}

export function addScheduleCommands({ program, session, deps }: CommandLine): void {
  const schedule = program.command('schedule').description('starts, stops, runs and rollouts at set times')
  schedule
    .command('ls [schedules...]')
    .description('list schedules')
    .action(async (names: readonly string[]) => list(await session(), names))
  const line = { schedule, session, deps }
  addWriting(line)
  addOrders(line)
  addReading(line)
}

function addWriting({ schedule, session, deps }: ScheduleLine): void {
  addScheduleOptions(
    schedule
      .command('create <name> [args...]')
      .description('create a schedule')
      .requiredOption('--cron <expression>', "its times, such as '0 3 * * *' or @daily"),
  )
    .option('--paused', 'it does not run by itself until it is resumed')
    .action(async (name: string, args: readonly string[], options: ScheduleOptions & { paused?: true }) => {
      const action = await actionOf(options, args, deps)
      if (action === undefined) throw usage('say what it does: --start, --stop, --run or --rollout')
      const open = await session()
      const cron = options.cron ?? ''
      const paused = options.paused === true && { paused: true }
      const body = { name, ...partsOf(options), cron, action, ...paused }
      const made = one(await open.client.POST('/v1/schedules', { body }))
      open.answer({ json: made, text: `${made.name} is created` })
    })
  addScheduleOptions(
    schedule
      .command('set <schedule> [args...]')
      .description('change a schedule; a new action replaces the whole one')
      .option('--cron <expression>', 'its times'),
  ).action(async (object: string, args: readonly string[], options: ScheduleOptions) => {
    const action = await actionOf(options, args, deps)
    await change(await session(), object, { ...partsOf(options), ...(action && { action }) })
  })
  for (const [name, paused] of [
    ['pause', true],
    ['resume', false],
  ] as const) {
    schedule
      .command(`${name} <schedules...>`)
      .description(paused ? 'let schedules run only by hand' : 'let schedules run by themselves again')
      .action(async (names: readonly string[]) => {
        const open = await session()
        const body = names.map((object) => ({ ...identified(object), paused }))
        const answer = await open.client.PATCH('/v1/schedules', { body })
        tellEach(open, entriesOf(answer), (entry) => `${entry.name} is ${paused ? 'paused' : 'resumed'}`)
      })
  }
}

async function change(session: Session, object: string, body: object): Promise<void> {
  const params = { path: { object } }
  const done = one(await session.client.PATCH('/v1/schedules/{object}', { params, body }))
  const text =
    done.changed.length === 0
      ? `${done.name} is so already`
      : `${done.name}: ${done.changed.join(', ')} changed`
  session.answer({ json: done, text })
}

function addOrders({ schedule, session }: ScheduleLine): void {
  schedule
    .command('rm <schedules...>')
    .description('delete schedules, and the record of their runs')
    .action(async (names: readonly string[]) => {
      const open = await session()
      const answer = await open.client.DELETE('/v1/schedules', { params: { query: queryOf(names) } })
      tellEach(open, entriesOf(answer), ({ name }) => `${name} is deleted`)
    })
  schedule
    .command('run <schedules...>')
    .description('have schedules run now')
    .action(async (names: readonly string[]) => {
      const open = await session()
      const answer = await open.client.PUT('/v1/schedules/trigger', { body: names.map(identified) })
      tellEach(
        open,
        entriesOf(answer),
        ({ name }) => `${name} runs; \`roost schedule runs ${name}\` shows how it goes`,
      )
    })
}

function addReading({ schedule, session }: ScheduleLine): void {
  schedule
    .command('inspect <schedule>')
    .description('show everything that the API says of a schedule')
    .action(async (object: string) => {
      const open = await session()
      const found = one(await open.client.GET('/v1/schedules/{object}', { params: { path: { object } } }))
      open.answer({ json: found, text: JSON.stringify(found, undefined, 2) })
    })
  schedule
    .command('explain <schedule>')
    .description('say what a schedule does, what its last run did, and when it runs next')
    .action(async (object: string) => explain(await session(), object, [ExplainedKind.Schedule]))
  schedule
    .command('runs <schedule>')
    .description('show the last runs of a schedule')
    .option('--limit <number>', 'so many', numberOption('--limit', { min: 1, max: keptRuns }), 10)
    .option('--log', 'show what the newest of them printed last')
    .action(async (object: string, options: { readonly limit: number; readonly log?: true }) =>
      showRuns(await session(), object, options),
    )
}

async function showRuns(
  session: Session,
  object: string,
  { limit, log = false }: { readonly limit: number; readonly log?: boolean },
): Promise<void> {
  const params = { path: { object }, query: { limit, log } }
  const { runs } = one(await session.client.GET('/v1/schedules/{object}/runs', { params }))
  if (log && !session.wantsJson) {
    session.answer({ json: runs, text: runs[0]?.log ?? '' })
    return
  }
  const shape: readonly Column<Run>[] = [
    { title: 'DUE', text: ({ scheduled_at: at }) => at },
    { title: 'ENDED', text: ({ ended_at: at = '' }) => at },
    { title: 'RESULT', text: ({ result }) => result },
    { title: 'CODE', text: ({ exit_code: code }) => (code === undefined ? '' : String(code)) },
    { title: 'WHY', text: ({ reason = '' }) => reason, shrinks: true },
  ]
  session.list(runs, shape)
}

async function list(session: Session, names: readonly string[]): Promise<void> {
  const shape: readonly Column<Schedule>[] = [
    { title: 'NAME', text: ({ name }) => name, shrinks: true },
    { title: 'CRON', text: ({ cron = '' }) => cron },
    { title: 'ZONE', text: ({ time_zone: zone = '' }) => zone, shrinks: true },
    { title: 'DOES', text: does, shrinks: true },
    { title: 'NEXT', text: ({ paused, next_runs: [next = ''] = [] }) => (paused ? 'paused' : next) },
    { title: 'LAST', text: ({ last_run: last }) => last?.result ?? '' },
  ]
  const params = { query: queryOf(names) }
  session.list(succeeded(await session.client.GET('/v1/schedules', { params })), shape)
}

function does({ action: { start, stop, run, rollout } = {} }: Schedule): string {
  if (rollout !== undefined) return `roll out ${rollout.service}`
  if (run !== undefined) return `run ${run.image.split('@', 1)[0]}`
  return start === undefined ? `stop ${stop?.instances.join(',')}` : `start ${start.instances.join(',')}`
}
