import { ErrorCode, failure } from '../failure.ts'

/** The ways in which a request about rollouts can fail; part of the table of all failures. */
export const rolloutFailures = {
  canaryNotGrowing: failure(
    ErrorCode.Invalid,
    400,
    "Invalid value of 'canary' in {place}: its percentages must grow and end with 100, and {value} do not",
  ),
  rolloutUnderWay: failure(
    ErrorCode.WrongState,
    200,
    "A rollout of service group '{name}' is under way ({phase}): wait until it is over, go back, or give 'supersede'",
    true,
  ),
  rolloutCanNotEnd: failure(
    ErrorCode.WrongState,
    200,
    "The rollout of service group '{name}' that is under way ({phase}) can not be superseded now: {reason}",
    true,
  ),
  nothingToRollOut: failure(
    ErrorCode.WrongState,
    200,
    "Service group '{name}' has no instance that is not stopped: start one, or change its instances by PATCH /v1/instances",
  ),
  nothingToCheck: failure(
    ErrorCode.Invalid,
    200,
    "Service group '{name}' publishes no port, so a check has nothing to ask: give 'check' with a 'port'",
  ),
  volumeInSteps: failure(
    ErrorCode.NotBoth,
    200,
    "Instance '{instance}' of service group '{name}' has a volume, which only one version can have at a time: leave out " +
      "'canary'",
  ),
  nothingToGoBackTo: failure(
    ErrorCode.WrongState,
    200,
    "Service group '{name}' has no old version to go back to: no rollout is under way, and none is kept",
  ),
  rolloutGoesBack: failure(
    ErrorCode.WrongState,
    200,
    "The rollout of service group '{name}' goes back already: {reason}",
    true,
  ),
} as const
