import { proxyLocalActivities } from '@temporalio/workflow'
import type { ControlActivities } from '../activities/control-activities.ts'

/**
 * PostgreSQL may be away for as long as it likes: the writes are tried for ever. Beyond `localRetryThreshold`
 * the wait is a timer of the server, so that the workflow's task is not held open and the host's work goes
 * on.
 */
export const rowWrites = proxyLocalActivities<ControlActivities>({
  startToCloseTimeout: '5s',
  localRetryThreshold: '1s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '10s' },
})
