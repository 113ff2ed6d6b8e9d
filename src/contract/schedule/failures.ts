import { ErrorCode, failure } from '../failure.ts'

/** The ways in which a request about schedules can fail; part of the table of all failures. */
export const scheduleFailures = {
  invalidCron: failure(ErrorCode.Invalid, 400, "Invalid cron expression '{value}': {reason}"),
  invalidTimeZone: failure(
    ErrorCode.Invalid,
    400,
    "Invalid time zone '{value}': expected a name of the time zone database, such as Europe/Berlin or UTC",
  ),
  notOneAction: failure(
    ErrorCode.NotBoth,
    400,
    "{place} needs exactly one of 'start', 'stop', 'run' and 'rollout', but {count} are given",
  ),
  tooManySchedules: failure(
    ErrorCode.TooMany,
    200,
    'Too many schedules: at most {limit} per account; delete one that is not needed',
  ),
  runUnderWay: failure(
    ErrorCode.WrongState,
    200,
    "A run of schedule '{name}' is under way, and its overlap policy is 'skip': wait until it has ended",
    true,
  ),
} as const
