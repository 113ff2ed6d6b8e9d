import { proxyLocalActivities } from '@temporalio/workflow'
import type { ControlActivities } from '../activities/control-activities.ts'

/**
 * The writes to rows. PostgreSQL may be away for any time, so they are tried for ever. After
 * `localRetryThreshold` the wait is a timer of Temporal's server. So the workflow's task is not held open,
 * and the host's work goes on.
 */
export const rowWrites = proxyLocalActivities<ControlActivities>({
  startToCloseTimeout: '5s',
  localRetryThreshold: '1s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '10s' },
})
