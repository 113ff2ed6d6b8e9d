import { ErrorCode, failure } from '../failure.ts'

/** The ways in which a request can fail because of its token; part of the table of all failures. */
export const tokenFailures = {
  tokenExpired: failure(
    ErrorCode.NotAllowed,
    401,
    'This API token expired at {at}; ask the owner of the account for a new one',
  ),
  scopeMissing: failure(
    ErrorCode.NotAllowed,
    403,
    'This token has {has}, but this needs {needed}; ask the owner of the account for a token that has it',
  ),
  outsideServices: failure(
    ErrorCode.NotAllowed,
    403,
    'This token is limited to {services}, but this is about the whole account; ask its owner for a token without that limit',
  ),
  serviceGroupNeeded: failure(
    ErrorCode.NotAllowed,
    403,
    "This token is limited to {services}: name one of them in 'service_group' of every new instance",
  ),
  volumesNotAllowed: failure(
    ErrorCode.NotAllowed,
    403,
    "This token is limited to {services}, and volumes belong to the whole account: leave out 'volumes'",
  ),
  developerNeeded: failure(
    ErrorCode.NotAllowed,
    403,
    "Only a token of a developer can make another one: leave out 'developer'",
  ),

  // From here on, each failure is an entry of an answer with status 200.
  tooManyTokens: failure(
    ErrorCode.TooMany,
    200,
    'Too many tokens: at most {limit} per account; delete one that is not used any more',
  ),
} as const
