import { ErrorCode, failure } from '../failure.ts'

/**
 * The ways in which nothing new can be placed because of the hosts; part of the table of all failures. Each
 * is about one object: it is an entry of an answer with status 200.
 */
export const hostFailures = {
  noHost: failure(ErrorCode.NoneFree, 200, 'No host has joined this installation yet: try again later', true),
  noHostAnswers: failure(
    ErrorCode.OperationFailed,
    200,
    'No host answers, and none has since {since}: nothing new can be placed now, try again later',
    true,
  ),
  allHostsCordoned: failure(
    ErrorCode.NoneFree,
    200,
    "No host takes anything new now, because administrators cordoned all that answer: try again later, or ask them for 'roost host uncordon'",
    true,
  ),
  volumeHostCordoned: failure(
    ErrorCode.CannotBeUsed,
    200,
    "Volume '{name}' is on host '{host}', which takes no new instance, because an administrator cordoned it: try again later, " +
      "or ask for 'roost host uncordon {host}'",
    true,
  ),
  noHostsAddress: failure(
    ErrorCode.NotSupported,
    200,
    'This installation takes no further hosts: set ROOST_HOSTS_ADDRESS to the address at which other machines reach it, and start it again',
  ),
  roleNeedsServices: failure(
    ErrorCode.NotSupported,
    200,
    "The role '{role}' needs services that other machines reach: set {settings} to addresses of your own, and start this machine again " +
      '(docs/operations.md)',
  ),
  invalidHostId: failure(ErrorCode.Invalid, 400, "Invalid host name '{value}': expected {rule}"),
  hostIdTaken: failure(
    ErrorCode.AlreadyExists,
    200,
    "The name '{value}' belongs to a host, or is in an open invitation",
  ),
  tooManyHostLabels: failure(
    ErrorCode.TooMany,
    200,
    "Host '{name}' would have more than {limit} labels: remove some first",
  ),
  hostLive: failure(
    ErrorCode.OperationFailed,
    200,
    "Host '{name}' was heard of within the last {seconds} s: stop its agent first",
    true,
  ),
  hostHasInstances: failure(
    ErrorCode.OperationFailed,
    200,
    "Host '{name}' has instances: delete them first; or, if its machine never comes back, 'roost host remove --lost {name}' has them begin on other hosts",
  ),
  hostHasVolumes: failure(
    ErrorCode.OperationFailed,
    200,
    "Host '{name}' has volumes: delete them first; or, if its machine never comes back, 'roost host remove --lost {name}' gives them up",
  ),
} as const
