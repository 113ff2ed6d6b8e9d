import { entriesOf, isFailed, succeeded } from '../../client/answers.ts'
import type { Entry } from '../../client/answers.ts'
import { isAborted } from '../../client/client.ts'
import { maxWaitMs } from '../../contract/limits.ts'
import { CommandFailure } from '../command-failure.ts'
import { withProgress } from '../progress.ts'
import type { Session } from '../session.ts'

type Move = Entry<'GetBalanceAnswer'>

export interface BalanceOptions {
  readonly most: number
  readonly plan?: true
}

/** How many instances move at a time, as in the drain of a host. */
const atOnce = 2

/**
 * Moves what makes the hosts more equally full, one move after the other. Whoever ends the command ends the
 * plan with it: what moves goes on, and nothing else begins.
 */
export async function balance(session: Session, { most, plan }: BalanceOptions): Promise<void> {
  const moves = succeeded(await session.client.GET('/v1/balance', { params: { query: { most } } }))
  if (moves.length === 0) return session.answer({ json: [], text: 'no move would make the hosts more equal' })
  if (plan) return session.answer({ json: moves, text: moves.map(planned).join('\n') })
  const waiting = [...moves]
  const failures: string[] = []
  const moved: Move[] = []
  const lane = async (): Promise<void> => {
    for (let move = waiting.shift(); move !== undefined; move = waiting.shift()) {
      const failure = await carryOut(session, move)
      if (failure === undefined) moved.push(move)
      else failures.push(failure)
    }
  }
  const text = () => `${waiting.length} of ${moves.length} moves left`
  await withProgress(session, text, async () => {
    await Promise.all(Array.from({ length: atOnce }, lane)).catch((error: unknown) => {
      if (!session.deps.signal.aborted || !isAborted(error)) throw error
      throw new CommandFailure(`nothing else moves; what moves already goes on: ${moved.length} are over`)
    })
  })
  session.answer({ json: moved, text: `${moved.length} moved` })
  for (const failure of failures.slice(1)) session.deps.note(`roost: ${failure}\n`)
  if (failures[0] !== undefined) throw new CommandFailure(failures[0])
}

/** Why it did not move; undefined if it did. */
async function carryOut(session: Session, { uuid, name, from, to }: Move): Promise<string | undefined> {
  const body = [{ uuid, host: to.host, wait_timeout_ms: maxWaitMs }]
  const [entry] = entriesOf(await session.client.PUT('/v1/instances/move', { body }))
  if (entry === undefined) return `the answer of the API about ${name} has no entry`
  if (isFailed(entry)) return entry.message
  session.tell(`${name}: moved from ${from.host} to ${to.host}`)
  return undefined
}

function planned({ name, from, to }: Move): string {
  return `${name}: from ${fullness(from)} to ${fullness(to)}`
}

function fullness({ host, percent_before: before, percent_after: after }: Move['from']): string {
  return `${host} (${before} % full, then ${after} %)`
}
