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
   * The HTTP status of the answer if the whole request fails. It is 200 for a failure that is only ever
   * about one object: that failure is an entry of an answer with status 200.
   */
  readonly httpStatus: number
  /** Whether the same request may succeed later without any change. */
  readonly retryable: boolean
  /** The sentence that the user reads. Each `{…}` in it is filled in. */
  readonly sentence: string
}

export function failure(code: ErrorCode, httpStatus: number, sentence: string, retryable = false): Failure {
  return { code, httpStatus, sentence, retryable }
}
