import { proxyLocalActivities } from '@temporalio/workflow'
import type { ControlActivities } from '../activities/control-activities.ts'

/**
 * The writes to rows. PostgreSQL may be away for any time, so they are tried for ever. If the wait for the
 * next try is longer than `localRetryThreshold`, it becomes a timer of Temporal's server. So an outage does
 * not hold the workflow's task open, and the work of hosts goes on.
 */
export const rowWrites = proxyLocalActivities<ControlActivities>({
  startToCloseTimeout: '5s',
  localRetryThreshold: '1s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '10s' },
})
