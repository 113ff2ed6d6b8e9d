import { maxLabelLength } from '../../domain/object-name.ts'
import { ErrorCode, failure } from '../failure.ts'

/** The ways in which a request can fail because of its token; part of the table of all failures. */
export const tokenFailures = {
  tokenExpired: failure(
    ErrorCode.NotAllowed,
    401,
    'This API token expired at {at}; ask the owner of the account for a new one',
  ),
  sessionEnded: failure(
    ErrorCode.NotAllowed,
    401,
    'Your session in the console has ended: sign in again with a token',
  ),
  notFromConsole: failure(
    ErrorCode.NotAllowed,
    403,
    "The console's cookie is only accepted from the console's own pages, over HTTPS or on this machine: open the console and " +
      "sign in there; scripts send the header 'Authorization: Bearer <token>'",
  ),
  tooManySignIns: failure(
    ErrorCode.TooMany,
    429,
    'Too many attempts to sign in from your address: try again in {seconds} s',
    true,
  ),
  tokenUnknown: failure(
    ErrorCode.NotAllowed,
    401,
    'This token is not known here, or it was revoked: check that all of it was copied, or make a new one with: npx roost admin token create <user>',
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
  domainsNotAllowed: failure(
    ErrorCode.NotAllowed,
    403,
    'This token is limited to {services}, and domains and certificates belong to the whole account: it can take domains away, ' +
      'but leave out those that a service is to get',
  ),
  developerNeeded: failure(
    ErrorCode.NotAllowed,
    403,
    "Only a token of a developer can make another one: leave out 'developer'",
  ),

  invalidUserName: failure(
    ErrorCode.Invalid,
    400,
    "Invalid user name '{value}': expected letters, digits and single hyphens, from a letter to a letter or digit, at most " +
      `${maxLabelLength} characters; 'official' is reserved`,
  ),

  // From here on, each failure is an entry of an answer with status 200.
  tooManyTokens: failure(
    ErrorCode.TooMany,
    200,
    'Too many tokens: at most {limit} per account; delete one that is not used any more',
  ),
  limitsCrossed: failure(
    ErrorCode.Invalid,
    200,
    "'{min}' {minValue} would be above '{max}' {maxValue}: lower the first, or raise the second",
  ),
} as const
