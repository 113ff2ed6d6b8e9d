import { proxyActivities } from '@temporalio/workflow'
import type { ScheduleActivities } from '../../activities/schedule/activities.ts'

/**
 * The longest time of one call. It asks Temporal for a start or stop of each instance that the schedule
 * names, a few seconds each at worst.
 */
const longestCallMs = 300_000
/** After this time without a heartbeat, the worker counts as killed, and another one repeats the call. */
const heartbeatTimeoutMs = 10_000

/** A call is repeated for ever: it fails only while the installation itself has trouble. */
export const runCalls = proxyActivities<ScheduleActivities>({
  startToCloseTimeout: longestCallMs,
  heartbeatTimeout: heartbeatTimeoutMs,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
})
