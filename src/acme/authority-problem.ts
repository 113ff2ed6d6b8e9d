import { IssueError } from './issuer.ts'
import type { AuthorityProblem } from './issuer.ts'

const errorPrefix = 'urn:ietf:params:acme:error:'
/**
 * The most characters of a problem's detail. Details are kept in rows and shown to people; a longer text
 * helps nobody.
 */
const maxDetailLength = 1_000
const maxTypeLength = 200
/**
 * The most subproblems that are kept. For an order of several names that is enough to see what is wrong with
 * them.
 */
const maxSubproblems = 10
/**
 * The characters that are taken out of a text: control characters, separators, and those that change the
 * direction of writing.
 */
const unprintable = /[\p{C}\p{Z}]+/gu

/**
 * The consequence of each problem that RFC 8555 (6.7), RFC 9773 and their registry name. `failed`: something
 * about the name or the request is wrong now and may be right at another time. `later`: the problem has
 * nothing to do with the name. `refused`: the answer stays the same, however often one asks.
 */
const kindOfProblem: Readonly<Record<string, IssueError['kind']>> = {
  accountDoesNotExist: 'failed',
  alreadyReplaced: 'failed',
  alreadyRevoked: 'failed',
  autoRenewalCanceled: 'failed',
  badCSR: 'failed',
  // A bad nonce is repeated at once with another; it comes here only after many repeats.
  badNonce: 'later',
  badPublicKey: 'failed',
  badRevocationReason: 'failed',
  badSignatureAlgorithm: 'failed',
  caa: 'failed',
  connection: 'failed',
  dns: 'failed',
  externalAccountRequired: 'failed',
  incorrectResponse: 'failed',
  invalidContact: 'failed',
  invalidProfile: 'failed',
  malformed: 'failed',
  orderNotReady: 'failed',
  rateLimited: 'later',
  rejectedIdentifier: 'refused',
  serverInternal: 'later',
  tls: 'failed',
  unauthorized: 'failed',
  unsupportedContact: 'failed',
  unsupportedIdentifier: 'refused',
  userActionRequired: 'failed',
}

/**
 * The consequence of an answer without a known problem: `failed`, unless the status means that the server
 * has trouble or wants fewer requests.
 */
function kindOfStatus(status: number | undefined): IssueError['kind'] {
  return status !== undefined && (status === 429 || status === 408 || status >= 500) ? 'later' : 'failed'
}

/** The type without the prefix that all types have, such as `rateLimited`. */
export function shortType(type: string): string {
  return type.startsWith(errorPrefix) ? type.slice(errorPrefix.length) : type
}

export interface ProblemFound extends AuthorityProblem {
  readonly kind: IssueError['kind']
}

/** Reads a problem document (RFC 7807), or anything that came in its place. Never throws. */
export function readProblem(value: unknown, status?: number): ProblemFound {
  const record = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  const type = printable(record['type'], maxTypeLength) || 'about:blank'
  const given = printable(record['detail'], maxDetailLength) || printable(record['title'], maxDetailLength)
  const subproblems = Array.isArray(record['subproblems'])
    ? record['subproblems'].slice(0, maxSubproblems).map((each) => readProblem(each))
    : []
  const details = [given, ...subproblems.map((each) => each.detail)].filter((text) => text !== '')
  const counted = typeof record['status'] === 'number' ? record['status'] : status
  return {
    kind: kindOf(type, subproblems, status ?? counted),
    type: deciding(type, subproblems),
    detail: details.join('; ').slice(0, maxDetailLength),
    ...(counted !== undefined && { status: counted }),
  }
}

/** If one of several names is refused for good, the whole order is refused. */
function kindOf(type: string, subproblems: readonly ProblemFound[], status: number | undefined) {
  if (subproblems.some((each) => each.kind === 'refused')) return 'refused'
  const known = shortType(type)
  const kind = Object.hasOwn(kindOfProblem, known) ? kindOfProblem[known] : undefined
  return kind ?? kindOfStatus(status)
}

/** `compound` itself says nothing, so the type of a problem inside it is taken. */
function deciding(type: string, subproblems: readonly ProblemFound[]): string {
  if (shortType(type) !== 'compound') return type
  return (subproblems.find((each) => each.kind === 'refused') ?? subproblems[0])?.type ?? type
}

/** Makes the error for a problem. `what` is what the request asked for, such as `the order`. */
export function issueErrorOf(
  problem: ProblemFound,
  {
    authority,
    what,
    retryAt,
  }: { readonly authority: string; readonly what: string; readonly retryAt?: number },
): IssueError {
  const { kind, type, detail, status } = problem
  const said = [detail, `(${[shortType(type), status].filter((part) => part !== undefined).join(', ')})`]
  return new IssueError(kind, `${authority} refused ${what}: ${said.join(' ').trim()}`, {
    problem: { type, detail, ...(status !== undefined && { status }) },
    ...(retryAt !== undefined && { retryAtMs: retryAt }),
  })
}

/** Text that others wrote, made fit to be kept and shown. It is empty if `value` is not a string. */
export function printable(value: unknown, maxLength: number): string {
  return typeof value === 'string' ? value.replace(unprintable, ' ').trim().slice(0, maxLength) : ''
}
