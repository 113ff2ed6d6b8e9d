import { X509Certificate } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { ChallengeKind } from '../domain/service/route-feed.ts'
import { createAcmeAccount } from './acme-account.ts'
import type { AccountOptions, AcmeAccount } from './acme-account.ts'
import { readAuthorization, readOrder } from './acme-documents.ts'
import type { Authorization, Order } from './acme-documents.ts'
import { createAcmeHttp } from './acme-http.ts'
import type { AcmeAnswer, AcmeHttpOptions } from './acme-http.ts'
import { createAcmeSession, readAnswer } from './acme-session.ts'
import type { AcmeSession } from './acme-session.ts'
import { issueErrorOf, shortType } from './authority-problem.ts'
import { IssueError } from './issuer.ts'
import type { Challenge, Issuer, OpenOrder } from './issuer.ts'
import { askRenewalWindow, certificateIdentifier } from './renewal-information.ts'
import { retryAtMs } from './retry-after.ts'

export interface AcmeIssuerOptions extends AcmeHttpOptions, AccountOptions {
  readonly clock?: Clock
}

export interface Clock {
  nowMs(): number
  /** Rejects with the signal's reason if the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

/**
 * The longest time that one call waits. After that the call fails with the time at which the caller should
 * call again for the same order.
 */
const patienceMs = 120_000
const firstPollMs = 500
const longestPollMs = 10_000
const pollGrowth = 1.5
/** The most bytes of a chain. A chain has some 4 KiB; chains with hybrid signatures will have more. */
const maxChainBytes = 262_144
const maxChainCertificates = 10

export interface ClosableIssuer extends Issuer {
  close(): Promise<void>
}

/** An authority that speaks RFC 8555. Any number of processes may make each call at the same time. */
export function createAcmeIssuer(options: AcmeIssuerOptions): ClosableIssuer {
  const clock = options.clock ?? systemClock
  const session = createAcmeSession(createAcmeHttp(options), clock.nowMs)
  const talk: Conversation = { session, clock, account: createAcmeAccount(session, options) }
  return {
    name: session.authority,
    open: (names, { replacesChain }) => open(talk, names, replacesChain),
    find: (orderUrl) => find(talk, orderUrl),
    prove: (order, kind, signal) => prove(talk, { order, kind, signal }),
    finalise: (orderUrl, csr, signal) => finalise(talk, { orderUrl, csr, signal }),
    download: (orderUrl) => download(talk, orderUrl),
    renewalWindow: (chain) => askRenewalWindow(session, chain, clock.nowMs()),
    caaIdentities: async () => (await session.directory()).caaIdentities,
    close: () => session.close(),
  }
}

interface Conversation {
  readonly session: AcmeSession
  readonly account: AcmeAccount
  readonly clock: Clock
}

async function open(
  talk: Conversation,
  names: readonly string[],
  replacesChain: string | undefined,
): Promise<OpenOrder> {
  const { newOrder, renewalInfo } = await talk.session.directory()
  const replaces =
    renewalInfo === undefined || replacesChain === undefined
      ? undefined
      : await certificateIdentifier(replacesChain)
  const identifiers = names.map((value) => ({ type: 'dns', value }))
  const ask = (payload: object) => talk.account.post({ url: newOrder, payload, what: 'the order' })
  const answer = await ask({ identifiers, ...(replaces !== undefined && { replaces }) }).catch(
    (error: unknown) => {
      // `replaces` only asks for a better place in the queue. A renewal must not fail because the authority
      // does not know the certificate before.
      if (replaces === undefined || !(error instanceof IssueError) || error.kind !== 'failed') throw error
      return ask({ identifiers })
    },
  )
  if (answer.location === undefined) throw new IssueError('later', `${talk.session.authority} named no order`)
  return openOrderOf(talk, answer.location, readAnswer(answer, talk.session.authority, readOrder))
}

async function find(talk: Conversation, orderUrl: string): Promise<OpenOrder | undefined> {
  try {
    const { order } = await readOrderAt(talk, orderUrl)
    return await openOrderOf(talk, orderUrl, order)
  } catch (error) {
    if (error instanceof IssueError && isGone(error)) return undefined
    throw error
  }
}

/** The order does not exist any more, or belongs to an account that the platform does not have any more. */
function isGone({ problem }: IssueError): boolean {
  const status = problem?.status ?? 0
  return status === 404 || status === 410 || shortType(problem?.type ?? '') === 'unauthorized'
}

async function openOrderOf(talk: Conversation, url: string, order: Order): Promise<OpenOrder> {
  const { state } = order
  if (state !== 'pending') return { url, state, challenges: [] }
  const thumbprint = await talk.account.thumbprint()
  const authorizations = await readAuthorizations(talk, order)
  const challenges = authorizations
    .filter((each) => each.authorization.state === 'pending')
    .flatMap(({ authorization: { name, challenges: offered } }) =>
      offered.map(({ kind, token }): Challenge => {
        return { name, kind, token, keyAuthorization: `${token}.${thumbprint}` }
      }),
    )
  return { url, state, challenges }
}

async function prove(
  talk: Conversation,
  { order: { url }, kind, signal }: { order: OpenOrder; kind: ChallengeKind; signal: AbortSignal },
): Promise<void> {
  const asked = new Set<string>()
  await poll(talk, { what: 'the proof', signal }, async () => {
    const { order, answer } = await readOrderAt(talk, url, signal)
    if (order.state === 'invalid') throw await invalidOrder(talk, order, signal)
    if (order.state !== 'pending') return { done: true }
    const found = await readAuthorizations(talk, order, signal)
    const invalid = found.find(
      (each) => each.authorization.state !== 'pending' && each.authorization.state !== 'valid',
    )
    if (invalid) throw failedAuthorization(talk, invalid.authorization)
    for (const { authorization } of found) {
      if (authorization.state === 'pending') await askToLook(talk, authorization, { kind, asked, signal })
    }
    return { done: false, answers: [answer, ...found.map((each) => each.answer)] }
  })
}

/**
 * Asks the authority to check a challenge, once for each challenge. Some time may pass until the authority
 * reports that it checks it.
 */
async function askToLook(
  { account, session }: Conversation,
  { name, challenges }: Authorization,
  { kind, asked, signal }: { kind: ChallengeKind; asked: Set<string>; signal: AbortSignal },
): Promise<void> {
  const challenge = challenges.find((each) => each.kind === kind)
  if (challenge === undefined)
    throw new IssueError('failed', `${session.authority} does not offer ${kind} for ${name}`)
  if (challenge.state !== 'pending' || asked.has(challenge.url)) return
  asked.add(challenge.url)
  await account.post({ url: challenge.url, payload: {}, what: `to look at ${name}`, signal })
}

async function finalise(
  talk: Conversation,
  { orderUrl, csr, signal }: { orderUrl: string; csr: Buffer; signal: AbortSignal },
): Promise<void> {
  let refusal: unknown
  await poll(talk, { what: 'the certificate', signal }, async () => {
    const { order, answer } = await readOrderAt(talk, orderUrl, signal)
    if (order.state === 'valid') return { done: true }
    if (order.state === 'invalid') throw refusal ?? (await invalidOrder(talk, order, signal))
    if (order.state === 'pending')
      throw new IssueError('failed', `${talk.session.authority} has no proof yet for this order`)
    if (order.state === 'processing') return { done: false, answers: [answer] }
    if (refusal !== undefined) throw refusal
    // A request whose answer was lost has still changed the order, so the order is read once more before a
    // refusal counts.
    const asked = await talk.account
      .post({
        url: order.finalize,
        payload: { csr: csr.toString('base64url') },
        what: 'to issue the certificate',
        signal,
      })
      .catch((error: unknown) => {
        if (!(error instanceof IssueError) || error.kind === 'later') throw error
        refusal = error
      })
    return { done: false, answers: asked ? [asked] : [] }
  })
}

async function download(talk: Conversation, orderUrl: string): Promise<string> {
  const { session, account } = talk
  const { order } = await readOrderAt(talk, orderUrl)
  if (order.certificate === undefined)
    throw new IssueError('failed', `${session.authority} has not issued this certificate`)
  // The authority may offer other chains by links. They are for old clients that nobody uses any more.
  const { body } = await account.post({
    url: order.certificate,
    payload: undefined,
    what: 'the certificate',
    accept: 'application/pem-certificate-chain',
    maxBytes: maxChainBytes,
  })
  return chainOf(body.toString(), session.authority)
}

const certificateBlock = /-----BEGIN CERTIFICATE-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE-----/g

function chainOf(text: string, authority: string): string {
  const blocks = text.match(certificateBlock) ?? []
  try {
    if (blocks.length === 0 || blocks.length > maxChainCertificates)
      throw new Error(`${blocks.length} certificates`)
    return blocks.map((block) => new X509Certificate(block).toString()).join('')
  } catch (cause) {
    throw new IssueError('later', `${authority} answered with something that is no certificate`, { cause })
  }
}

async function readOrderAt(
  { account, session }: Conversation,
  url: string,
  signal?: AbortSignal,
): Promise<{ readonly order: Order; readonly answer: AcmeAnswer }> {
  const answer = await account.post({ url, payload: undefined, what: 'a look at the order', signal })
  return { order: readAnswer(answer, session.authority, readOrder), answer }
}

interface AuthorizationRead {
  readonly authorization: Authorization
  readonly answer: AcmeAnswer
}

async function readAuthorizations(
  { account, session }: Conversation,
  { authorizations }: Order,
  signal?: AbortSignal,
): Promise<readonly AuthorizationRead[]> {
  return Promise.all(
    authorizations.map(async (url) => {
      const answer = await account.post({ url, payload: undefined, what: 'a look at the proof', signal })
      return { authorization: readAnswer(answer, session.authority, readAuthorization), answer }
    }),
  )
}

/**
 * If the authority looked at a name, the authorization says which name and why. The order says the rest,
 * such as what CAA records forbid.
 */
async function invalidOrder(talk: Conversation, order: Order, signal: AbortSignal): Promise<IssueError> {
  const { authority } = talk.session
  const found = await readAuthorizations(talk, order, signal)
  const invalid = found.find((each) => each.authorization.state === 'invalid')
  if (invalid) return failedAuthorization(talk, invalid.authorization)
  return order.problem
    ? issueErrorOf(order.problem, { authority, what: 'the certificate' })
    : new IssueError('failed', `${authority} gave the order up without a reason`)
}

function failedAuthorization(
  { session }: Conversation,
  { name, state, challenges }: Authorization,
): IssueError {
  const problem = challenges.find((each) => each.problem !== undefined)?.problem
  const { authority } = session
  if (problem === undefined)
    return new IssueError('failed', `${authority} has no proof for ${name}: its state is ${state}`)
  // The authority has checked the name, and this order permits no second try, even if the authority's own
  // trouble was the reason.
  const kind = problem.kind === 'refused' ? 'refused' : 'failed'
  return issueErrorOf({ ...problem, kind }, { authority, what: name })
}

interface Look {
  readonly done: boolean
  /** The answers whose `Retry-After` says when to look again. */
  readonly answers?: readonly AcmeAnswer[]
}

/**
 * Calls `look` until it reports that it is done. It waits as long as the authority says, otherwise with
 * growing pauses.
 */
async function poll(
  { clock, session }: Conversation,
  { what, signal }: { readonly what: string; readonly signal: AbortSignal },
  look: () => Promise<Look>,
): Promise<void> {
  const untilMs = clock.nowMs() + patienceMs
  for (let pauseMs = firstPollMs; ; pauseMs = Math.min(pauseMs * pollGrowth, longestPollMs)) {
    const { done, answers = [] } = await look()
    if (done) return
    const nowMs = clock.nowMs()
    const told = answers
      .map((answer) => retryAtMs(answer.retryAfter, nowMs))
      .filter((atMs) => atMs !== undefined)
    const nextMs = Math.max(nowMs + (told.length > 0 ? firstPollMs : pauseMs), ...told)
    if (nextMs > untilMs) {
      throw new IssueError('later', `${session.authority} is not done yet with ${what}`, {
        retryAtMs: nextMs,
      })
    }
    await clock.wait(nextMs - nowMs, signal)
  }
}

const systemClock: Clock = {
  nowMs: Date.now,
  async wait(ms, signal) {
    await wait(ms, undefined, { signal }).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error
    })
  },
}
