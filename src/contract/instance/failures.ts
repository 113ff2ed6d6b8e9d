import { ErrorCode, failure } from '../failure.ts'

/**
 * The ways in which a host can not start an instance; part of the table of all failures. Each is about one
 * object: it is an entry of an answer with status 200.
 */
export const startFailures = {
  noMemoryForStart: failure(
    ErrorCode.NoneFree,
    200,
    "Instance '{name}' needs {needed} MiB to start, but its host has {free} MiB of memory left: stop other instances, or try again later",
    true,
  ),
  noMoreMemory: failure(
    ErrorCode.NoneFree,
    200,
    "Instance '{name}' can not restart: it would need {more} MiB more than it has now, but its host has {free} MiB of " +
      'memory left: stop other instances, or try again later',
    true,
  ),
  hostFull: failure(ErrorCode.NoneFree, 200, "Instance '{name}' could not be started: {reason}", true),
  overQuotaOnHost: failure(ErrorCode.Quota, 200, "Instance '{name}' could not be started: {reason}"),
} as const

/** Why an instance can not be suspended; part of the table of all failures. Each is about one object. */
export const suspendFailures = {
  notUp: failure(
    ErrorCode.WrongState,
    200,
    "Instance '{name}' is {state}: only an instance that runs can be suspended; start it first",
  ),
  standbyDisabled: failure(
    ErrorCode.WrongState,
    200,
    "Instance '{name}' can not be suspended: its application asks for no standby, its scale_to_zero_disable count is above " +
      '0; stop it, or let the application lower that count',
    true,
  ),
} as const

/** Why an instance does not move; part of the table of all failures. It is about one object. */
export const moveFailures = {
  notMoved: failure(
    ErrorCode.OperationFailed,
    200,
    "Instance '{name}' did not move to host '{host}': {reason}",
    true,
  ),
} as const
