import { ChallengeKind } from '../domain/service/route-feed.ts'
import { readProblem } from './authority-problem.ts'
import type { ProblemFound } from './authority-problem.ts'
import type { OrderState } from './issuer.ts'

/** The parts of an authority's documents that are needed here. Each reader throws `MalformedDocument`. */
export interface Directory {
  readonly newNonce: string
  readonly newAccount: string
  readonly newOrder: string
  /** The URL of renewal information (RFC 9773). It is undefined if the authority has none. */
  readonly renewalInfo: string | undefined
  readonly caaIdentities: readonly string[]
  readonly externalAccountRequired: boolean
}

export interface Order {
  readonly state: OrderState
  readonly authorizations: readonly string[]
  readonly finalize: string
  readonly certificate: string | undefined
  readonly problem: ProblemFound | undefined
}

export interface Authorization {
  readonly name: string
  readonly state: string
  readonly challenges: readonly AuthorizationChallenge[]
}

export interface AuthorizationChallenge {
  readonly url: string
  readonly kind: ChallengeKind
  readonly state: string
  readonly token: string
  readonly problem: ProblemFound | undefined
}

export interface RenewalInformation {
  readonly startMs: number
  readonly endMs: number
}

/**
 * The server that answers is not an ACME authority, or does not follow RFC 8555. The message says what is
 * wrong with which document.
 */
export class MalformedDocument extends Error {
  override readonly name = 'MalformedDocument'
}

const maxUrlLength = 2_048
const maxTextLength = 1_024
/** The most authorizations of an order. No authority accepts as many names in one order. */
const maxAuthorizations = 100
const maxChallenges = 20
const maxIdentities = 20
/**
 * The form of a challenge's token: at least 128 bits in base64url (RFC 8555, 8.1). It is checked because the
 * token becomes part of a path.
 */
const tokenPattern = /^[\w-]{22,512}$/
const orderStates: readonly OrderState[] = ['pending', 'ready', 'processing', 'valid', 'invalid']
const challengeKinds: readonly string[] = Object.values(ChallengeKind)

type Fields = Readonly<Record<string, unknown>>

export function readDirectory(body: Buffer): Directory {
  const fields = fieldsOf(body, 'the directory')
  const meta = isFields(fields['meta']) ? fields['meta'] : {}
  return {
    newNonce: urlOf(fields, 'newNonce'),
    newAccount: urlOf(fields, 'newAccount'),
    newOrder: urlOf(fields, 'newOrder'),
    renewalInfo: fields['renewalInfo'] === undefined ? undefined : urlOf(fields, 'renewalInfo'),
    caaIdentities: listOf(meta['caaIdentities'], maxIdentities).filter(isShortText),
    externalAccountRequired: meta['externalAccountRequired'] === true,
  }
}

export function readOrder(body: Buffer): Order {
  const fields = fieldsOf(body, 'the order')
  const state = orderStates.find((each) => each === fields['status'])
  if (state === undefined) throw new MalformedDocument(`the order has an unknown state`)
  const authorizations = listOf(fields['authorizations'], maxAuthorizations).map((each) =>
    urlOf({ authorization: each }, 'authorization'),
  )
  return {
    state,
    authorizations,
    finalize: urlOf(fields, 'finalize'),
    certificate: fields['certificate'] === undefined ? undefined : urlOf(fields, 'certificate'),
    problem: problemOf(fields),
  }
}

/** Leaves out challenges of other kinds, and list entries that are no challenges. */
export function readAuthorization(body: Buffer): Authorization {
  const fields = fieldsOf(body, 'the authorization')
  const identifier = isFields(fields['identifier']) ? fields['identifier'] : {}
  const name = identifier['value']
  if (!isShortText(name)) throw new MalformedDocument('the authorization names nothing')
  return {
    name: name.toLowerCase(),
    state: String(fields['status']),
    challenges: listOf(fields['challenges'], maxChallenges).flatMap(readChallenge),
  }
}

function readChallenge(value: unknown): readonly AuthorizationChallenge[] {
  if (!isFields(value) || !challengeKinds.includes(String(value['type']))) return []
  const { token } = value
  if (typeof token !== 'string' || !tokenPattern.test(token))
    throw new MalformedDocument('a challenge has a malformed token')
  return [
    {
      url: urlOf(value, 'url'),
      kind: value['type'] as ChallengeKind,
      state: String(value['status']),
      token,
      problem: problemOf(value),
    },
  ]
}

export function readRenewalInformation(body: Buffer): RenewalInformation {
  const fields = fieldsOf(body, 'the renewal information')
  const window = isFields(fields['suggestedWindow']) ? fields['suggestedWindow'] : {}
  const [startMs, endMs] = [Date.parse(String(window['start'])), Date.parse(String(window['end']))]
  if (!(startMs < endMs)) throw new MalformedDocument('the renewal information suggests no time')
  return { startMs, endMs }
}

/** Finds the problem in the body of an answer. Any body is accepted. */
export function problemIn(body: Buffer, status: number): ProblemFound {
  try {
    return readProblem(JSON.parse(body.toString()), status)
  } catch {
    return readProblem(undefined, status)
  }
}

function problemOf(fields: Fields): ProblemFound | undefined {
  return fields['error'] === undefined || fields['error'] === null ? undefined : readProblem(fields['error'])
}

function fieldsOf(body: Buffer, what: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(body.toString())
  } catch (cause) {
    throw new MalformedDocument(`${what} is no JSON`, { cause })
  }
  if (!isFields(value)) throw new MalformedDocument(`${what} is no JSON object`)
  return value
}

function urlOf(fields: Fields, name: string): string {
  const text = fields[name]
  if (typeof text !== 'string' || text.length > maxUrlLength || !/^https?:/.test(text) || !URL.canParse(text))
    throw new MalformedDocument(`'${name}' is no URL`)
  return text
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function listOf(value: unknown, maxCount: number): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, maxCount) : []
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxTextLength
}
