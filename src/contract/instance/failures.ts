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
