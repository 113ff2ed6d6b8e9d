import { ErrorCode, failure } from './failure.ts'

/**
 * The ways in which streams and the reading of logs and of the platform's metrics can fail; part of the table
 * of all failures.
 */
export const readingFailures = {
  tooManyStreams: failure(ErrorCode.TooMany, 429, 'All {limit} streams are taken: wait {seconds} s', true),
  tooManyPrograms: failure(
    ErrorCode.TooMany,
    429,
    'Too many programs run: {count}, and at most {limit} may',
    true,
  ),
  tooManyConnections: failure(
    ErrorCode.TooMany,
    429,
    'Too many connections into instances are open: {count}, and at most {limit} may',
    true,
  ),
  oneInstance: failure(ErrorCode.Invalid, 400, "'{what}' needs exactly one instance: {count} are named"),
  notUpgraded: failure(ErrorCode.Invalid, 200, "'{what}' is a WebSocket: ask for an upgrade, with GET"),
  followedLog: failure(ErrorCode.Invalid, 400, "'follow' needs exactly one instance and no 'limit': {given}"),
  tooMuchUsage: failure(
    ErrorCode.TooMany,
    400,
    "Too many steps of usage: {steps} for {count} instances, but at most {max} per request; give a smaller 'limit' or fewer instances",
  ),
  hostUnreachable: failure(ErrorCode.OperationFailed, 200, 'The host of the instance does not answer', true),
  administratorNeeded: failure(
    ErrorCode.NotAllowed,
    403,
    'This is about the whole installation: it needs a token of an administrator',
  ),
  noPart: failure(
    ErrorCode.NotFound,
    404,
    "No part '{part}' with the name '{name}'; /platform/targets lists all",
  ),
  partUnreachable: failure(ErrorCode.OperationFailed, 502, "The {part} '{name}' does not answer", true),
} as const
