import { maxLabelLength, maxNameLength } from '../domain/object-name.ts'

/** The numeric `error` codes of the API, as its clients know them. */
export const ErrorCode = {
  Unknown: 0,
  NotSupported: 1,
  WrongMethod: 2,
  NoEndpoint: 3,
  FailedNotAll: 4,
  TooMany: 5,
  UnknownParameter: 6,
  Invalid: 7,
  NotFound: 8,
  NoneFree: 9,
  OperationFailed: 10,
  WrongState: 11,
  TimedOut: 12,
  MissingIdentifier: 13,
  NotAllowed: 14,
  Attached: 15,
  Malformed: 16,
  NotBoth: 17,
  AddService: 18,
  Quota: 19,
  GuestMemoryTooSmall: 20,
  NotAttached: 21,
  TooLong: 22,
  AlreadyExists: 23,
  CannotBeUsed: 24,
  AutoscaleInstance: 25,
  AutoscaleConfigured: 26,
  AutoscaleNotConfigured: 27,
  AutoscaleDisabled: 28,
  AutoscaleSizeOutOfRange: 29,
  CertificateNameMismatch: 30,
} as const
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode]

export interface Failure {
  readonly code: ErrorCode
  /**
   * The HTTP status where the failure is that of the whole request; 200 where it is only ever that of one object,
   * which is an entry of an answer with status 200.
   */
  readonly httpStatus: number
  /** The same request may succeed later without any change. */
  readonly retryable: boolean
  /** What the user reads; `{…}` is filled in. */
  readonly sentence: string
}

/** Every way in which a request or one of its objects can fail. */
export const failures = {
  notSupported: failure(ErrorCode.NotSupported, 400, "'{name}' is not supported by this release"),
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
  onlyWith: failure(ErrorCode.NotBoth, 400, "'{name}' in {place} is only valid together with {other}"),
  notBoth: failure(ErrorCode.NotBoth, 400, "'{name}' and '{other}' cannot be given together in {place}"),
  missingIdentifier: failure(
    ErrorCode.MissingIdentifier,
    400,
    "Missing identifier in {place}: give one of 'uuid' and 'name'",
  ),
  identifierInLocalScope: failure(
    ErrorCode.NotBoth,
    400,
    "'{name}' is not allowed in {place}: the path already names the object '{object}'",
  ),
  missingBody: failure(ErrorCode.Malformed, 400, 'The request has no body, but {place} are required'),
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
  internal: failure(ErrorCode.Unknown, 500, 'Internal error; the request id is {requestId}', true),
  unavailable: failure(ErrorCode.OperationFailed, 503, 'The service is temporarily unavailable', true),
  handlingTimeout: failure(ErrorCode.TimedOut, 503, 'The request could not be completed in time', true),

  // From here on: only ever the failure of one object, in an answer with status 200.
  notFound: failure(ErrorCode.NotFound, 200, "No {kind} with {by} '{value}'"),
  imageNotFound: failure(
    ErrorCode.NotFound,
    200,
    "No image '{value}'; /v1/images/list shows those there are",
  ),
  unusableImage: failure(ErrorCode.CannotBeUsed, 200, "Image '{value}' can not run: {reason}"),
  alreadyExists: failure(ErrorCode.AlreadyExists, 200, "{kind} with name '{value}' already exists"),
  quotaExceeded: failure(
    ErrorCode.Quota,
    200,
    "Quota '{quota}' exceeded: {wanted} with this request, {limit} allowed",
  ),
  noCapacity: failure(
    ErrorCode.NoneFree,
    200,
    'No host has room for the instance: stop or delete others, or try again later',
    true,
  ),
  noAddress: failure(ErrorCode.NoneFree, 200, 'No private address is free', true),
  wrongState: failure(ErrorCode.WrongState, 200, "The operation is not possible in state '{state}'"),
  operationFailed: failure(
    ErrorCode.OperationFailed,
    200,
    'The operation could not be carried out: {reason}',
    true,
  ),
  timedOut: failure(ErrorCode.TimedOut, 200, 'Operation timed out', true),
  hostUnreachable: failure(ErrorCode.OperationFailed, 200, 'The host of the instance does not answer', true),
} as const satisfies Record<string, Failure>
export type FailureName = keyof typeof failures

function failure(code: ErrorCode, httpStatus: number, sentence: string, retryable = false): Failure {
  return { code, httpStatus, sentence, retryable }
}

/** One failure with its sentence filled in. A value: it becomes an entry, or travels in a `RequestError`. */
export interface Problem {
  readonly failure: FailureName
  readonly code: ErrorCode
  readonly httpStatus: number
  readonly message: string
}

/** A placeholder without a value becomes an empty string. */
export function problem(name: FailureName, values: Readonly<Record<string, string | number>> = {}): Problem {
  const { code, httpStatus, sentence } = failures[name]
  const message = sentence.replaceAll(/\{(\w+)\}/g, (_, key: string) => String(values[key] ?? ''))
  return { failure: name, code, httpStatus, message }
}

/** A number out of a range, which an account's limits can make one of a single value. */
export function rangeProblem(values: {
  readonly name: string
  readonly in?: string
  readonly min: number
  readonly max: number
}): Problem {
  return problem(values.min === values.max ? 'notTheOnlyValue' : 'outOfRange', { in: '', ...values })
}

/** The request as a whole fails; thrown anywhere below the envelope middleware. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly problems: readonly Problem[]
  readonly headers: Readonly<Record<string, string>>

  constructor(problems: readonly Problem[], headers: Readonly<Record<string, string>> = {}) {
    super(problems.map((each) => each.message).join('; '))
    this.problems = problems
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
