import { entriesOf, isFailed } from '../../src/client/answers.ts'
import type { FailedEntry } from '../../src/client/answers.ts'
import { api, isSessionEnd, sentenceOf } from '../frame/api.ts'
import { say } from '../frame/toasts.tsx'
import { markChanged, remove } from './store.ts'

/** What can be done with one or several instances. */
export const Action = {
  Start: 'start',
  Stop: 'stop',
  /** Send it to standby now, with its memory. */
  Suspend: 'suspend',
  /** Restart it for changes that wait, or drop the memory that it has kept. */
  Renew: 'renew',
  Delete: 'delete',
} as const
export type Action = (typeof Action)[keyof typeof Action]

/** As many objects as one request may name. */
const mostPerRequest = 100

interface Named {
  readonly uuid: string
  readonly name: string
}

const done: Readonly<Record<Action, string>> = {
  [Action.Start]: 'starts',
  [Action.Stop]: 'stops',
  [Action.Suspend]: 'goes to sleep',
  [Action.Renew]: 'gets its changes',
  [Action.Delete]: 'was deleted',
}
const doneToSeveral: Readonly<Record<Action, string>> = {
  [Action.Start]: 'instances start',
  [Action.Stop]: 'instances stop',
  [Action.Suspend]: 'instances go to sleep',
  [Action.Renew]: 'instances get their changes',
  [Action.Delete]: 'instances were deleted',
}

/** Does it and says what came of it. Never throws. */
export async function act(action: Action, targets: readonly Named[]): Promise<void> {
  const failures: string[] = []
  let count = 0
  for (let from = 0; from < targets.length; from += mostPerRequest) {
    const some = targets.slice(from, from + mostPerRequest)
    try {
      const failed = await send(action, some)
      failures.push(...failed.map(({ message }) => message))
      count += some.length - failed.length
    } catch (error) {
      if (isSessionEnd(error)) return
      failures.push(sentenceOf(error))
    }
  }
  const [only] = targets
  if (targets.length === 1 && count === 1) say(`${only?.name} ${done[action]}.`)
  else if (count > 0) say(`${count} ${doneToSeveral[action]}.`)
  if (failures.length > 0) say(summaryOf(failures), { isBad: true })
}

function summaryOf(failures: readonly string[]): string {
  const [first = ''] = failures
  return failures.length === 1 ? first : `${first} (and ${failures.length - 1} more like it)`
}

async function send(action: Action, targets: readonly Named[]): Promise<readonly FailedEntry[]> {
  const body = targets.map(({ uuid }) => ({ uuid }))
  const entries = await entriesFor(action, body)
  const failed: FailedEntry[] = []
  for (const [index, entry] of entries.entries()) {
    const uuid = targets[index]?.uuid ?? ''
    if (isFailed(entry)) failed.push(entry)
    else if (action === Action.Delete) remove(uuid)
    else markChanged([uuid])
  }
  return failed
}

async function entriesFor(
  action: Action,
  body: { uuid: string }[],
): Promise<readonly (FailedEntry | { readonly uuid: string })[]> {
  if (action === Action.Start) return entriesOf(await api.PUT('/v1/instances/start', { body }))
  if (action === Action.Stop) return entriesOf(await api.PUT('/v1/instances/stop', { body }))
  if (action === Action.Suspend) return entriesOf(await api.PUT('/v1/instances/suspend', { body }))
  if (action === Action.Renew) {
    const changes = body.map((one) => ({ ...one, restart: true }))
    return entriesOf(await api.PATCH('/v1/instances', { body: changes }))
  }
  return entriesOf(await api.DELETE('/v1/instances', { body }))
}
