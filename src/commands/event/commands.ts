import { succeeded } from '../../client/answers.ts'
import { followEvents, latestEventId } from '../../client/event-stream.ts'
import type { EventFilter, UserEvent } from '../../client/event-stream.ts'
import { maxEventCount } from '../../contract/limits.ts'
import { visibleText } from '../../domain/plain-text.ts'
import { cut } from '../output.ts'
import type { Column } from '../output.ts'
import { numberOption } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'

interface EventOptions {
  readonly follow?: true
  readonly object?: string
  readonly kind?: string
  readonly count: number
}

export function addEventCommands({ program, session }: CommandLine): void {
  program
    .command('events')
    .description('list what happened in the account, the oldest first')
    .option('-f, --follow', 'go on with what happens, until Ctrl-C')
    .option('--object <object>', 'only events of the object with this name or UUID')
    .option('--kind <kind>', 'only events of this kind, such as instance or instance.state')
    .option(
      '-n, --count <number>',
      'the most events',
      numberOption('--count', { min: 1, max: maxEventCount }),
      50,
    )
    .action(async (options: EventOptions) => {
      const open = await session()
      const filter = {
        ...(options.object !== undefined && { object: options.object }),
        ...(options.kind !== undefined && { kind: options.kind }),
      } as EventFilter
      if (options.follow) await follow(open, filter, options.count)
      else open.list(await list(open, filter, options.count), shape)
    })
}

const shape: readonly Column<UserEvent>[] = [
  { title: 'TIME', text: ({ at }) => at },
  { title: 'EVENT', text: ({ kind }) => kind },
  { title: 'OBJECT', text: ({ object }) => object.name, shrinks: true },
  { title: 'STATE', text: changeText },
  { title: 'BY', text: ({ by }) => by.name ?? by.kind, shrinks: true },
  { title: 'WHY', text: ({ why }) => why, shrinks: true },
]

function changeText({ from, to }: UserEvent): string {
  return [from, to].filter((state) => state !== undefined).join(' > ')
}

/** The newest events, in the order in which they happened. */
async function list({ client }: Session, filter: EventFilter, count: number): Promise<readonly UserEvent[]> {
  return succeeded(await client.GET('/v1/events', { params: { query: { ...filter, count } } })).toReversed()
}

async function follow(session: Session, filter: EventFilter, count: number): Promise<void> {
  const { access, deps } = session
  const write = (event: UserEvent) => writeLine(session, event)
  // It is read before the list: if that is empty, whatever passes the filter comes after this event.
  const newest = await latestEventId(access, deps.signal)
  const listed = await list(session, filter, count)
  listed.forEach(write)
  const after = listed.at(-1)?.id ?? newest
  for await (const message of followEvents(access, { filter, after, signal: deps.signal })) {
    if (message.kind === 'event') write(message.event)
    else if (message.kind === 'gap') deps.note(`roost: ${message.message}\n`)
    else deps.note(`roost: ${message.failure.message}; trying again\n`)
  }
}

/** A stream has no columns to align: each event is a line, or a line of JSON. */
function writeLine({ deps, wantsJson }: Session, event: UserEvent): void {
  if (wantsJson) {
    deps.write(`${JSON.stringify(event)}\n`)
    return
  }
  const parts = [event.at, event.kind, event.object.name, changeText(event), event.why].filter(
    (part) => part !== '',
  )
  deps.write(`${cut(visibleText(parts.join('  ')), deps.columns ?? Infinity)}\n`)
}
