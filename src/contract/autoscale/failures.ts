import { ErrorCode, failure } from '../failure.ts'

/** The ways in which requests about autoscale can fail; part of the table of all failures. */
export const autoscaleFailures = {
  /**
   * The failure of the whole request if the object in its path does not exist. The entries are parts of
   * that object, so no entry could report this in a place where clients read it.
   */
  notFoundInPath: failure(ErrorCode.NotFound, 404, "No {kind} with {by} '{value}'"),

  openStep: failure(
    ErrorCode.Invalid,
    400,
    "{step} in {place} must have 'lower_bound', 'upper_bound' or both: it is open on both sides",
  ),
  crossedBounds: failure(
    ErrorCode.Invalid,
    400,
    "Value of 'lower_bound' of {step} in {place} must be below that of 'upper_bound': {lower} is not below {upper}",
  ),
  unsortedSteps: failure(
    ErrorCode.Invalid,
    400,
    'Steps in {place} must be sorted ascending: {step} {begins}, but {previous} before it begins at {bound}',
  ),
  overlappingSteps: failure(
    ErrorCode.Invalid,
    400,
    'Steps in {place} must not overlap: both {previous} and {step} apply {range}',
  ),
  stepGap: failure(
    ErrorCode.Invalid,
    400,
    'Steps in {place} must leave no gap: between {previous} and {step} none applies from {from} to {to}',
  ),
  noSteps: failure(ErrorCode.Invalid, 400, "'steps' in {place} must have at least one step"),
  stepOutOfRange: failure(
    ErrorCode.Invalid,
    400,
    "Value of '{name}' of {step} in {place} must be in the range {min} to {max}: {value} is not",
  ),
  negativeExact: failure(
    ErrorCode.Invalid,
    400,
    "Value of 'adjustment' of {step} in {place} must be at least 0 with the adjustment type 'exact': {value} is not",
  ),
  policyNameTooLong: failure(
    ErrorCode.TooLong,
    400,
    "Value of 'name' in {place} is too long: {length} characters, but at most {max}",
  ),
  repeatedPolicy: failure(ErrorCode.AlreadyExists, 400, "Policy '{name}' is given more than once in {place}"),
  sizesCrossed: failure(
    ErrorCode.Invalid,
    400,
    "Value of 'min_size' must not be above that of 'max_size': {min} is above {max}",
  ),

  nothingToTry: failure(
    ErrorCode.Invalid,
    200,
    "Service group '{service}' has no policy to try: give 'policies'",
  ),
  nothingRecorded: failure(
    ErrorCode.CannotBeUsed,
    200,
    "Nothing of service group '{service}' was recorded in this time: none of its instances ran, or all of them are gone",
  ),
  trialTooLarge: failure(
    ErrorCode.Invalid,
    200,
    "A trial over {seconds} s with 'max_size' {size} is too large: at most {max} instances over that time",
  ),

  autoscaleDisabled: failure(ErrorCode.AutoscaleDisabled, 200, 'Autoscale not enabled for your account'),
  autoscaleSize: failure(
    ErrorCode.AutoscaleSizeOutOfRange,
    200,
    "Value of '{name}' must be in the range {min} to {max}, which are your account's limits: {value} is not",
  ),
  autoscaleConfigured: failure(
    ErrorCode.AutoscaleConfigured,
    200,
    "Autoscale is already configured for service group '{service}', with master '{master}': delete that configuration first",
  ),
  autoscaleNotConfigured: failure(
    ErrorCode.AutoscaleNotConfigured,
    400,
    "Autoscale is not configured for service group '{service}'",
  ),
  masterIsClone: failure(
    ErrorCode.AutoscaleInstance,
    200,
    "Instance '{name}' cannot be a master: autoscale made it itself",
  ),
  masterNotAttached: failure(
    ErrorCode.NotAttached,
    200,
    "Instance '{name}' is not attached to service group '{service}'",
  ),
  masterHasVolume: failure(
    ErrorCode.CannotBeUsed,
    200,
    "Instance '{name}' cannot be a master, because clones can not share its volume '{volume}': detach that first",
  ),
  volumeForClone: failure(
    ErrorCode.AutoscaleInstance,
    200,
    "Instance '{name}' cannot have a volume: autoscale made it, and deletes it when it is not needed",
  ),
  volumeForMaster: failure(
    ErrorCode.AutoscaleConfigured,
    200,
    "Instance '{name}' cannot have a volume: it is the master of autoscale for service group '{service}', and clones can " +
      'not share it',
  ),
  changeOfClone: failure(
    ErrorCode.AutoscaleInstance,
    200,
    "Instance '{name}' can not be changed: autoscale made it after its master; change the master",
  ),
  retiredClone: failure(
    ErrorCode.AutoscaleInstance,
    200,
    "Instance '{name}' can not be started: autoscale is giving it back, and deletes it",
  ),
  policyTaken: failure(ErrorCode.AlreadyExists, 200, "Autoscale policy with name '{name}' already exists"),
  tooManyPolicies: failure(
    ErrorCode.TooMany,
    200,
    'Too many autoscale policies: at most {limit} per service group; delete one first',
  ),
} as const
