import { ErrorCode, failure } from '../failure.ts'

/**
 * The ways in which a request about ports and domains can fail for one object; part of the table of all
 * failures. Each is an entry of an answer with status 200.
 */
export const serviceFailures = {
  domainInUse: failure(ErrorCode.AlreadyExists, 200, "Domain '{fqdn}' is already in use"),
  domainReserved: failure(ErrorCode.CannotBeUsed, 200, "Domain '{fqdn}' is reserved and cannot be used"),
  domainUnproved: failure(
    ErrorCode.CannotBeUsed,
    200,
    "Domain '{fqdn}' is not proved to be yours: add a TXT record '{record}' with the value '{text}' to DNS, then try again. " +
      "The same value in '{any}' proves all names below that domain",
  ),
  domainProofUnanswered: failure(
    ErrorCode.OperationFailed,
    200,
    "DNS did not answer whether domain '{fqdn}' is proved to be yours (TXT record '{record}'): check its DNS servers, or try again",
    true,
  ),
  tooManyLookups: failure(
    ErrorCode.TooMany,
    200,
    'Too many domains had to be looked up in DNS: try again in {seconds} s',
    true,
  ),
  serviceAttached: failure(
    ErrorCode.Attached,
    200,
    "Service group '{name}' has instances attached: delete them first",
  ),
  portNotPublished: failure(
    ErrorCode.NotFound,
    200,
    "Port {port} is not published by service group '{name}', so it can not be taken away; published: {ports}",
  ),
  domainNotHeld: failure(
    ErrorCode.NotFound,
    200,
    "Service group '{name}' has no domain '{fqdn}' that could be taken away; its domains: {domains}",
  ),
  portOfPlatform: failure(
    ErrorCode.CannotBeUsed,
    200,
    'Port {port} cannot be used: a part of the platform itself listens there; publish another one',
  ),
  portBeyond: failure(
    ErrorCode.CannotBeUsed,
    200,
    'Port {port} cannot be used: this platform listens {offset} ports higher; publish one of at most {max}',
  ),
} as const
