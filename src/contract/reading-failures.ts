import { ErrorCode, failure } from './failure.ts'

/** The ways in which streams and the reading of logs can fail; part of the table of all failures. */
export const readingFailures = {
  tooManyStreams: failure(ErrorCode.TooMany, 429, 'All {limit} streams are taken: wait {seconds} s', true),
  followedLog: failure(ErrorCode.Invalid, 400, "'follow' needs exactly one instance and no 'limit': {given}"),
  hostUnreachable: failure(ErrorCode.OperationFailed, 200, 'The host of the instance does not answer', true),
} as const
