import { entriesOf, isFailed, succeeded } from '../../client/answers.ts'
import type { Entry } from '../../client/answers.ts'
import { pause } from '../../client/pause.ts'
import { CommandFailure } from '../command-failure.ts'
import { withProgress } from '../progress.ts'
import { queryOf, tellEach } from '../session.ts'
import type { Session } from '../session.ts'

type Host = Entry<'GetHostsAnswer'>

export interface DrainOptions {
  readonly wait: boolean
}

const lookMs = 1_000

/**
 * Has hosts emptied, and waits until nothing is left to move. The installation goes on by itself, whether or
 * not somebody waits here.
 */
export async function drain(
  session: Session,
  names: readonly string[],
  { wait }: DrainOptions,
): Promise<void> {
  const body = names.map((one) => ({ name: one }))
  const begun = entriesOf(await session.client.PUT('/v1/hosts/drain', { body }))
  const failed = begun.filter(isFailed)
  const started = begun.flatMap((entry) => (isFailed(entry) ? [] : [entry.name]))
  if (!wait || started.length === 0) {
    tellEach(session, begun, ({ name }) => `${name} is being emptied`)
    return
  }
  tellEach(session, [...(await untilMoved(session, started)), ...failed], outcome)
}

async function untilMoved(session: Session, names: readonly string[]): Promise<readonly Host[]> {
  const { signal } = session.deps
  const params = { query: queryOf(names) }
  const read = async () => succeeded(await session.client.GET('/v1/hosts', { params }))
  let hosts = await read()
  const left = () => hosts.reduce((sum, { drain: found }) => sum + (found?.to_move ?? 0), 0)
  const text = () => `${left()} ${left() === 1 ? 'instance' : 'instances'} to move`
  await withProgress(session, text, async () => {
    for (; left() > 0; hosts = await read()) {
      await pause(lookMs, signal)
      if (signal.aborted) throw new CommandFailure(goesOn(names))
    }
  })
  return hosts
}

function goesOn(names: readonly string[]): string {
  const all = names.join(' ')
  return `the drain goes on: \`roost host list ${all}\` shows how far it is, and \`roost host uncordon ${all}\` takes it back`
}

function outcome({ name, drain: left, instances, volumes }: Host): string {
  const count = Object.values(instances).reduce((sum, some) => sum + some, 0)
  if (left === undefined && count > 0)
    return `${name} is not emptied any more, because the drain was taken back; ${count} are left there`
  if (volumes === 0) return `${name} is empty, and stays cordoned`
  const kept = volumes === 1 ? '1 volume that no instance has' : `${volumes} volumes that no instance has`
  return `${name} has no instances any more, and stays cordoned; ${kept} stay${volumes === 1 ? 's' : ''} there`
}
