import { createTokens } from '../../contract/account/token-operations.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import { RequestError, problem, requestError } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import { maxTokens } from '../../contract/limits.ts'
import type { OperationBody, OperationEntry } from '../../contract/operation.ts'
import type { Identity } from '../../db/account/authenticator.ts'
import { issueToken } from '../../db/account/tokens.ts'
import { RightsFlaw, TokenScope, findRightsFlaw } from '../../domain/account/token-scope.ts'
import type { TokenRights } from '../../domain/account/token-scope.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { unmadeEntry } from '../failed-entry.ts'
import { writeRefusalProblem } from '../write-refusal.ts'
import { presentToken } from './token-view.ts'

type Body = OperationBody<typeof createTokens>
type Entry = OperationEntry<typeof createTokens> | FailedEntry

/** Creates tokens of the caller's account. None has a right that the caller's token lacks. */
export function tokensCreate(deps: ApiDeps): Handler<typeof createTokens> {
  return async ({ objects }, call) => {
    const { identity } = call
    const bodies = objects.map(({ parameters }) => parameters)
    const problems = bodies.flatMap((body) => flawProblem(rightsOf(body)))
    if (problems.length > 0) throw new RequestError(problems)
    if (bodies.some(({ developer }) => developer) && !identity.developer)
      throw requestError('developerNeeded')
    const entries: Entry[] = []
    for (const body of bodies) entries.push(await createOne(deps, call, body))
    return { entries }
  }
}

async function createOne(deps: ApiDeps, { identity, asker }: Call, body: Body): Promise<Entry> {
  const { label, developer } = body
  const outcome = await issueToken(deps.database, {
    userUuid: identity.userUuid,
    rights: rightsOf(body),
    expiresAt: expiryOf(body, identity, deps.nowMs()),
    most: maxTokens,
    asker,
    ...(label !== undefined && { label }),
    ...(developer !== undefined && { developer }),
  })
  if (!outcome.ok) return unmadeEntry(writeRefusalProblem(outcome.refusal))
  return { status: 'success', ...presentToken(outcome.record), token: outcome.token }
}

function rightsOf({ scopes, services }: Body): TokenRights {
  return {
    scopes: scopes === undefined ? null : [...new Set(scopes)],
    services: services === undefined ? null : [...new Set(services.map((name) => name.toLowerCase()))],
  }
}

/** A token does not outlive the one that makes it. Else nobody with an expiring token would lose it. */
function expiryOf({ lifetime_s: lifetimeS }: Body, { expiresAt }: Identity, nowMs: number): Date | null {
  const wanted = lifetimeS === undefined ? null : new Date(nowMs + lifetimeS * 1_000)
  if (wanted === null || expiresAt === null) return wanted ?? expiresAt
  return wanted < expiresAt ? wanted : expiresAt
}

const { place } = createTokens

/** The table is total: a flaw without a sentence does not compile. */
const flawProblems: Readonly<Record<RightsFlaw, Problem>> = {
  [RightsFlaw.LimitedWithoutScopes]: problem('onlyWith', { name: 'services', other: "'scopes'", place }),
  [RightsFlaw.LimitedPush]: problem('notBoth', {
    name: 'services',
    other: `${TokenScope.ImagesPush}' of 'scopes`,
    place,
  }),
}

function flawProblem(rights: TokenRights): readonly Problem[] {
  const flaw = findRightsFlaw(rights)
  return flaw === undefined ? [] : [flawProblems[flaw]]
}
