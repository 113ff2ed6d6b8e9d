import type { createUsers } from '../../contract/account/user-operations.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import { RequestError, problem, requestError } from '../../contract/errors.ts'
import type { OperationBody, OperationEntry } from '../../contract/operation.ts'
import { findUsers } from '../../db/account/user-overview.ts'
import { createUserWithToken } from '../../db/account/user-with-token.ts'
import { parseUserName } from '../../db/account/users.ts'
import type { UserRefusal } from '../../db/account/users.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { unmadeEntry } from '../failed-entry.ts'
import { givenNumbers, limitNames, quotaNames } from './quota-names.ts'
import { crossedLimitsProblem, presentUser } from './user-view.ts'

type Body = OperationBody<typeof createUsers>
type Entry = OperationEntry<typeof createUsers> | FailedEntry

/** Creates accounts, each with its first token. */
export function usersCreate(deps: Pick<ApiDeps, 'database'>): Handler<typeof createUsers> {
  return async ({ objects }, call) => {
    if (!call.identity.admin) throw requestError('administratorNeeded')
    const bodies = objects.map(({ parameters }) => parameters)
    const problems = bodies.flatMap(({ name }) =>
      parseUserName(name) === undefined ? [problem('invalidUserName', { value: name })] : [],
    )
    if (problems.length > 0) throw new RequestError(problems)
    const entries: Entry[] = []
    for (const body of bodies) entries.push(await createOne(deps, call, body))
    return { entries }
  }
}

async function createOne(
  { database }: Pick<ApiDeps, 'database'>,
  { asker }: Call,
  { name, hard, limits }: Body,
): Promise<Entry> {
  const outcome = await createUserWithToken(database, {
    name,
    hard: givenNumbers(quotaNames, hard),
    limits: givenNumbers(limitNames, limits),
    asker,
  })
  if (!outcome.ok) return unmadeEntry(refusalProblem(name, outcome.refusal), name)
  const { uuid } = outcome.user
  const [user] = await findUsers(database, [{ uuid }])
  if (user === undefined) return unmadeEntry(problem('notFound', { kind: 'user', by: 'uuid', value: uuid }))
  return { status: 'success', ...presentUser(user), token: outcome.token }
}

function refusalProblem(name: string, refusal: UserRefusal) {
  if (refusal.kind === 'crossed-limits') return crossedLimitsProblem(refusal)
  return refusal.kind === 'name-taken'
    ? problem('alreadyExists', { kind: 'User', value: name.toLowerCase() })
    : problem('invalidUserName', { value: name })
}
