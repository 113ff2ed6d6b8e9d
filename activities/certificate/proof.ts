import { setTimeout as wait } from 'node:timers/promises'
import { makeChallengeCertificate } from '../../src/acme/challenge-certificate.ts'
import type { NameSeen } from '../../src/acme/diagnosis.ts'
import { IssueError } from '../../src/acme/issuer.ts'
import type { Challenge, Issuer, OpenOrder } from '../../src/acme/issuer.ts'
import { clearOrder, dropChallenges, putChallenges } from '../../src/db/certificate/orders.ts'
import { loadForIssue } from '../../src/db/certificate/records.ts'
import { PortState, preferredChallenge } from '../../src/domain/certificate/attempt-report.ts'
import type { CertificateLifeEvent } from '../../src/domain/certificate/lifecycle.ts'
import { CertificateStep } from '../../src/domain/certificate/lifecycle.ts'
import { ChallengeKind } from '../../src/domain/service/route-feed.ts'
import type { RouteChallenge } from '../../src/domain/service/route-feed.ts'
import { noteOpenAttempt } from './attempt-log.ts'
import { done, requireOrder } from './steps.ts'
import type { CertificateStepDeps, StepInput } from './steps.ts'

/**
 * How long the platform tries to see its own challenge, before the authority is asked to look. Gateways get
 * a challenge within tens of milliseconds, and open port 80 for it. If the platform does not see the
 * challenge by then, the authority may see it all the same.
 */
const shownWithinMs = 2_000
const lookAgainMs = 250
/**
 * The wait before the authority is asked, if the platform can not check the challenge itself: a TLS-ALPN-01
 * challenge, or a name at a private address.
 */
const unseenShownWithinMs = 1_000

/** Makes gateways show the challenge, and asks the authority to check it. */
export async function proveOrder(deps: CertificateStepDeps, input: StepInput): Promise<CertificateLifeEvent> {
  const { database, issuer } = deps
  const { uuid, signal } = input
  if ((await loadForIssue(database, uuid)) === undefined) return { kind: 'gone' }
  const { orderUrl } = await requireOrder(deps, uuid)
  const order = await issuer.find(orderUrl)
  if (order === undefined) {
    await clearOrder(database, uuid)
    throw new IssueError('failed', `${issuer.name} does not have the order any more`)
  }
  try {
    const kind = await show(deps, input, order)
    if (kind === undefined) return { kind: 'gone' }
    await issuer.prove(order, kind, signal)
  } catch (error) {
    // If the proof is only put off, the challenge stays, because the authority may look at it at any time.
    if (error instanceof IssueError && error.kind !== 'later') await dropChallenges(database, uuid)
    throw error
  }
  await dropChallenges(database, uuid)
  return done(CertificateStep.Prove)
}

/** Shows the challenge. Returns its kind; undefined if the certificate is gone. */
async function show(
  deps: CertificateStepDeps,
  input: StepInput,
  order: OpenOrder,
): Promise<ChallengeKind | undefined> {
  const { database } = deps
  const { uuid, signal } = input
  const http = order.challenges.filter(({ kind }) => kind === ChallengeKind.Http01)
  const tls = order.challenges.filter(({ kind }) => kind === ChallengeKind.TlsAlpn01)
  const [first] = http.length > 0 ? http : tls
  if (first === undefined) return ChallengeKind.Http01
  if (!(await putChallenges(deps, uuid, http.map(shownByHttp)))) return undefined
  const seen = await lookUntilSeen(deps, first, signal)
  const prefersTls = http.length === 0 || preferredChallenge(seen) === ChallengeKind.TlsAlpn01
  const challenge = tls.length > 0 && prefersTls ? ChallengeKind.TlsAlpn01 : ChallengeKind.Http01
  await noteOpenAttempt(database, uuid, { ...seen, ...(await namedByCaa(deps.issuer)), challenge })
  if (challenge === ChallengeKind.TlsAlpn01) {
    if (!(await putChallenges(deps, uuid, await shownByTls(tls, deps.nowMs())))) return undefined
    await pause(unseenShownWithinMs, signal)
  }
  return challenge
}

function shownByHttp({ name, kind, token, keyAuthorization }: Challenge): RouteChallenge {
  return { token, kind, fqdn: name, keyAuthorization }
}

function shownByTls(challenges: readonly Challenge[], nowMs: number): Promise<RouteChallenge[]> {
  return Promise.all(
    challenges.map(async (challenge) => ({
      ...shownByHttp(challenge),
      ...(await makeChallengeCertificate(challenge, nowMs)),
    })),
  )
}

async function lookUntilSeen(
  { diagnosis, nowMs }: CertificateStepDeps,
  { name: fqdn, kind, token, keyAuthorization }: Challenge,
  signal: AbortSignal,
): Promise<NameSeen> {
  const challenge = kind === ChallengeKind.Http01 ? { challenge: { token, keyAuthorization } } : {}
  const untilMs = nowMs() + shownWithinMs
  for (;;) {
    const seen = await diagnosis.look({ fqdn, ...challenge }, signal)
    const isShown = kind !== ChallengeKind.Http01 || seen.web.some(({ answer }) => answer === 'expected')
    if (isShown || nowMs() >= untilMs) return seen
    if (seen.web.length > 0 && seen.web.every(({ state }) => state === PortState.NotAsked)) {
      await pause(unseenShownWithinMs, signal)
      return seen
    }
    await pause(lookAgainMs, signal)
  }
}

/**
 * The names by which CAA records permit the authority, for readers of the report. If the authority does not
 * answer now, the attempt goes on without them.
 */
async function namedByCaa(issuer: Issuer): Promise<{ readonly caaIdentities?: readonly string[] }> {
  try {
    return { caaIdentities: await issuer.caaIdentities() }
  } catch (error) {
    if (!(error instanceof IssueError)) throw error
    return {}
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : error
  })
}
