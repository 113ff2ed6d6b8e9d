import { maxLabelLength, maxNameLength } from '../domain/object-name.ts'
import { visibleText } from '../domain/plain-text.ts'
import { tokenFailures } from './account/failures.ts'
import { autoscaleFailures } from './autoscale/failures.ts'
import { ErrorCode, failure } from './failure.ts'
import type { Failure } from './failure.ts'
import { hostFailures } from './host/failures.ts'
import { moveFailures, startFailures, suspendFailures } from './instance/failures.ts'
import { rolloutFailures } from './rollout/failures.ts'
import { scheduleFailures } from './schedule/failures.ts'
import { serviceFailures } from './service/failures.ts'
import { maxReportedErrors } from './limits.ts'
import { readingFailures } from './reading-failures.ts'

/** Every way in which a request or one of its objects can fail. */
export const failures = {
  wrongMethod: failure(
    ErrorCode.WrongMethod,
    405,
    "Method '{method}' is not allowed for '{path}'; allowed: {allowed}",
  ),
  noEndpoint: failure(ErrorCode.NoEndpoint, 404, "No API endpoint '{path}'"),
  tooManyObjects: failure(
    ErrorCode.TooMany,
    400,
    'Too many objects: {count}, but at most {limit} per request',
  ),
  tooManyElements: failure(
    ErrorCode.TooMany,
    400,
    "Value of '{name}'{in} has too many elements: {count}, but at most {limit}",
  ),
  unknownParameter: failure(ErrorCode.UnknownParameter, 400, "Unknown parameter '{name}' in {place}"),
  absentParameter: failure(
    ErrorCode.NotSupported,
    400,
    "'{name}' in {place} is not supported here: {reason}",
  ),
  absentEndpoint: failure(ErrorCode.NotSupported, 400, "'{method} {path}' is not supported here: {reason}"),
  absentMethod: failure(
    ErrorCode.WrongMethod,
    405,
    "'{method} {path}' is not supported here: {reason}; allowed methods: {allowed}",
  ),
  wrongType: failure(
    ErrorCode.Invalid,
    400,
    "'{name}' in {place} has type '{actual}', but expected '{expected}'",
  ),
  missingParameter: failure(ErrorCode.Invalid, 400, "Missing '{name}' in {place}"),
  outOfRange: failure(ErrorCode.Invalid, 400, "Value of '{name}'{in} must be in the range {min} to {max}"),
  tooSmall: failure(ErrorCode.Invalid, 400, "Value of '{name}'{in} must be at least {min}"),
  notTheOnlyValue: failure(ErrorCode.Invalid, 400, "Value of '{name}'{in} must be {min}"),
  invalidFlag: failure(ErrorCode.Invalid, 400, "'{value}' is not a valid flag for '{name}'; valid: {valid}"),
  invalidValue: failure(
    ErrorCode.Invalid,
    400,
    "'{value}' is not a valid value for '{name}'; valid: {valid}",
  ),
  invalidName: failure(
    ErrorCode.Invalid,
    400,
    "Invalid name '{value}': expected letters, digits, single hyphens and dots, each part from a letter to a letter " +
      `or digit and at most ${maxLabelLength} characters long, ${maxNameLength} characters in all`,
  ),
  invalidUuid: failure(ErrorCode.Invalid, 400, "Invalid UUID '{value}'"),
  invalidImage: failure(ErrorCode.Invalid, 400, "Invalid image '{value}': {reason}"),
  invalidContent: failure(ErrorCode.Invalid, 400, "Invalid value of '{name}' in {place}: {reason}"),
  invalidMountPath: failure(ErrorCode.Invalid, 400, "Invalid mount path '{value}': it must {must}"),
  volumeForOne: failure(
    ErrorCode.NotBoth,
    400,
    "Volume '{name}' can be attached to one instance, but {count} are to be made: leave out 'replicas', or give " +
      "'size_mb' for a new volume each",
  ),
  invalidDnsName: failure(ErrorCode.Invalid, 400, "Invalid DNS name '{value}': {reason}"),
  repeatedDomain: failure(ErrorCode.Invalid, 400, "Domain '{fqdn}' is given more than once in {place}"),
  certificateNotAllowed: failure(
    ErrorCode.CannotBeUsed,
    400,
    "Domain '{fqdn}' cannot have a certificate: only fully-qualified custom domains have one, all others use the " +
      "metro domain's",
  ),
  commonNameNotCovered: failure(
    ErrorCode.CertificateNameMismatch,
    400,
    "The certificate in {place} is not for '{cn}', but for {names}: give one of these as 'cn', or upload another one",
  ),
  repeatedPort: failure(ErrorCode.Invalid, 400, 'Port {port} is published more than once in {place}'),
  missingHandler: failure(ErrorCode.Invalid, 400, "Port {port} must have the handler '{handler}'"),
  forbiddenHandler: failure(ErrorCode.Invalid, 400, "Port {port} must not have the handler '{handler}'"),
  redirectDestination: failure(
    ErrorCode.Invalid,
    400,
    "The handler 'redirect' of port {port} must have the destination port 443, not {destination}",
  ),
  softAboveHard: failure(
    ErrorCode.Invalid,
    400,
    "Value of 'soft_limit' in {place} must not be above that of 'hard_limit': {soft} is above {hard}",
  ),
  tooLong: failure(ErrorCode.TooLong, 400, "Value of '{name}'{in} is too long: at most {limit} {unit}"),
  tooManyBytes: failure(
    ErrorCode.TooLong,
    400,
    "'{what}' in {place} is too long: {bytes} bytes, but at most {limit}",
  ),
  tooShort: failure(ErrorCode.Invalid, 400, "Value of '{name}'{in} is too short: at least {limit} {unit}"),
  repeatedParameter: failure(
    ErrorCode.Invalid,
    400,
    "Query parameter '{name}' is given {count} times; expected one, or one per identifier",
  ),
  emptyParameter: failure(
    ErrorCode.Invalid,
    400,
    "Query parameter '{name}' has an empty value: give one, or leave the parameter out",
  ),
  inQueryAndBody: failure(
    ErrorCode.NotBoth,
    400,
    '{what} in {place} must not be given both in the query and in the body: leave one of them out',
  ),
  onlyWith: failure(ErrorCode.NotBoth, 400, "'{name}' in {place} is only valid together with {other}"),
  notBoth: failure(ErrorCode.NotBoth, 400, "'{name}' and '{other}' cannot be given together in {place}"),
  missingIdentifier: failure(
    ErrorCode.MissingIdentifier,
    400,
    'Missing identifier in {place}: give {fields}',
  ),
  identifierInLocalScope: failure(
    ErrorCode.NotBoth,
    400,
    "'{name}' is not allowed in {place}: the path already names the object '{object}'",
  ),
  missingBody: failure(
    ErrorCode.Malformed,
    400,
    'The body of the request is missing or names nothing, but {place} are required',
  ),
  bodyNotAllowed: failure(ErrorCode.Malformed, 400, 'This endpoint takes no body'),
  malformedBody: failure(ErrorCode.Malformed, 400, 'The request body is not valid JSON: {reason}'),
  malformedPath: failure(ErrorCode.Malformed, 400, 'The request path is not validly encoded'),
  badRequest: failure(ErrorCode.Malformed, 400, 'Malformed HTTP request'),
  unauthenticated: failure(
    ErrorCode.NotAllowed,
    401,
    "Missing or invalid API token; send the header 'Authorization: Bearer <token>'",
  ),
  bodyTooLarge: failure(ErrorCode.TooLong, 413, 'The request body is too large: at most {limit} bytes'),
  mediaType: failure(
    ErrorCode.Malformed,
    415,
    "A body of type '{type}' is not supported; send application/json",
  ),
  headersTooLarge: failure(ErrorCode.TooLong, 431, 'The request headers are too large'),
  receiveTimeout: failure(ErrorCode.TimedOut, 408, 'The request took too long to arrive', true),
  rateLimited: failure(ErrorCode.TooMany, 429, 'Too many requests; try again in {seconds} s', true),
  tooManyChanges: failure(
    ErrorCode.TooMany,
    429,
    'This account makes and changes too much at a time: {perMinute} objects per minute in the long run, {atOnce} at once after a rest; ' +
      'try again in {seconds} s',
    true,
  ),
  internal: failure(ErrorCode.Unknown, 500, 'Internal error; the request id is {requestId}', true),
  unavailable: failure(
    ErrorCode.OperationFailed,
    503,
    'The service is temporarily unavailable: try again in a moment',
    true,
  ),
  handlingTimeout: failure(ErrorCode.TimedOut, 503, 'The request could not be completed in time', true),

  // From here on, each failure is about one object only: it is an entry of an answer with status 200.
  notFound: failure(ErrorCode.NotFound, 200, "No {kind} with {by} '{value}'"),
  neitherObjectNorEndpoint: failure(
    ErrorCode.NotFound,
    200,
    "No {kind} with {by} '{value}', and no API endpoint '{path}'",
  ),
  imageNotFound: failure(
    ErrorCode.NotFound,
    200,
    "No image '{value}'; /v1/images/list shows those there are",
  ),
  unusableImage: failure(ErrorCode.CannotBeUsed, 200, "Image '{value}' can not run: {reason}"),
  alreadyExists: failure(ErrorCode.AlreadyExists, 200, "{kind} with name '{value}' already exists"),
  wildcardWithoutCertificate: failure(
    ErrorCode.CannotBeUsed,
    200,
    "Domain '{fqdn}' needs a certificate of yours with that common name: none is requested for a wildcard",
  ),
  certificateMismatch: failure(
    ErrorCode.CertificateNameMismatch,
    200,
    "The certificate for '{commonName}' does not match the domain '{fqdn}'",
  ),
  certificateExpired: failure(
    ErrorCode.CannotBeUsed,
    200,
    "Certificate '{name}' expired at {at}: upload a renewed one, and give that or none",
  ),
  certificateRenewsItself: failure(
    ErrorCode.CannotBeUsed,
    200,
    "Certificate '{name}' was requested, and is renewed by itself: upload one for the domain and give it that instead",
  ),
  certificateAttached: failure(
    ErrorCode.Attached,
    200,
    "Certificate '{name}' is used by domain '{fqdn}' of service group '{service}': give the domain another one, or take it away, first",
  ),
  tooManyCertificates: failure(
    ErrorCode.TooMany,
    200,
    'Too many certificates: at most {limit} per account; delete one that no domain uses',
  ),
  volumeAttached: failure(
    ErrorCode.Attached,
    200,
    "Volume '{name}' is attached to instance '{instance}': detach it first",
  ),
  volumeNotReady: failure(
    ErrorCode.CannotBeUsed,
    200,
    "Volume '{name}' cannot be used in state '{state}': try again when it is 'available'",
    true,
  ),
  volumeInError: failure(
    ErrorCode.CannotBeUsed,
    200,
    "Volume '{name}' cannot be used: {reason}; an operator can try 'roost admin volume repair'",
  ),
  volumeMounted: failure(
    ErrorCode.WrongState,
    200,
    "Volume '{name}' is mounted by instance '{instance}', which {is}: stop it first",
  ),
  volumeNotAttached: failure(
    ErrorCode.NotAttached,
    200,
    "Volume '{name}' is not attached to instance '{instance}'",
  ),
  volumeElsewhere: failure(
    ErrorCode.CannotBeUsed,
    200,
    "Volume '{name}' is on host '{volumeHost}', instance '{instance}' on host '{instanceHost}': create an instance " +
      'with the volume instead, it is placed where the volume is',
  ),
  volumeHostSilent: failure(
    ErrorCode.OperationFailed,
    200,
    "The host '{host}' of volume '{name}' does not answer, and an instance with it can be nowhere else: try again later",
    true,
  ),
  noVolumeRoom: failure(
    ErrorCode.NoneFree,
    200,
    'No host has room for {wanted}: the most that one has is {free} MiB; ask for less, or delete other volumes',
    true,
  ),
  noMemoryRoom: failure(
    ErrorCode.NoneFree,
    200,
    'No host has memory for {wanted}, the VMM included: the most that one has left is {free} MiB; ask for less, stop other instances, or try again later',
    true,
  ),
  instanceNotStopped: failure(
    ErrorCode.WrongState,
    200,
    "A volume is attached to a stopped instance, but '{instance}' {is}: stop it first",
  ),
  instanceHasVolume: failure(
    ErrorCode.Attached,
    200,
    "Instance '{instance}' has volume '{volume}' attached, and can have one: detach that first",
  ),
  quotaExceeded: failure(
    ErrorCode.Quota,
    200,
    "Quota '{quota}' exceeded: {wanted} with this request, {limit} allowed",
  ),
  deletedNotGone: failure(
    ErrorCode.Quota,
    200,
    "Too much that you deleted is not gone yet: '{quota}' would be {wanted} with it and this request, and {limit} are allowed, " +
      'which is the double of your quota; try again in a moment',
    true,
  ),
  noAddress: failure(ErrorCode.NoneFree, 200, 'No private address is free: delete instances', true),
  wrongState: failure(ErrorCode.WrongState, 200, "The operation is not possible in state '{state}'"),
  operationFailed: failure(
    ErrorCode.OperationFailed,
    200,
    'The operation could not be carried out: {reason}',
    true,
  ),
  timedOut: failure(ErrorCode.TimedOut, 200, 'Operation timed out', true),
  ...readingFailures,
  ...autoscaleFailures,
  ...hostFailures,
  ...startFailures,
  ...suspendFailures,
  ...moveFailures,
  ...scheduleFailures,
  ...rolloutFailures,
  ...serviceFailures,
  ...tokenFailures,
} as const satisfies Record<string, Failure>
export type FailureName = keyof typeof failures

/**
 * One failure with its sentence filled in. It is a value: it becomes an entry, or is part of a
 * `RequestError`.
 */
export interface Problem {
  readonly failure: FailureName
  readonly code: ErrorCode
  readonly httpStatus: number
  readonly message: string
}

/**
 * Fills in the sentence of a failure. A placeholder without a value becomes an empty string. Characters that
 * a terminal would not show are escaped.
 */
export function problem(name: FailureName, values: Readonly<Record<string, string | number>> = {}): Problem {
  const { code, httpStatus, sentence } = failures[name]
  const message = sentence.replaceAll(/\{(\w+)\}/g, (_, key: string) =>
    visibleText(String(values[key] ?? '')),
  )
  return { failure: name, code, httpStatus, message }
}

/**
 * The problem of a number that is out of its range. An account's limits can make the range a single value.
 */
export function rangeProblem(values: {
  readonly name: string
  readonly in?: string
  readonly min: number
  readonly max: number
}): Problem {
  return problem(values.min === values.max ? 'notTheOnlyValue' : 'outOfRange', { in: '', ...values })
}

/**
 * Thrown if the request as a whole fails, from anywhere below the envelope middleware. If there are many
 * problems, only the first `maxReportedErrors` are kept.
 */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly problems: readonly Problem[]
  readonly headers: Readonly<Record<string, string>>

  constructor(problems: readonly Problem[], headers: Readonly<Record<string, string>> = {}) {
    const named = problems.slice(0, maxReportedErrors)
    super(named.map((each) => each.message).join('; '))
    this.problems = named
    this.headers = headers
  }

  get httpStatus(): number {
    return this.problems[0]?.httpStatus ?? 500
  }
}

export function requestError(
  name: FailureName,
  values: Readonly<Record<string, string | number>> = {},
  headers: Readonly<Record<string, string>> = {},
): RequestError {
  return new RequestError([problem(name, values)], headers)
}

/** The message of an answer in which some or all objects failed. */
export const someFailedMessage = 'Failed to perform all operations'
