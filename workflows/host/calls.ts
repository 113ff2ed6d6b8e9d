import { proxyActivities } from '@temporalio/workflow'
import type { HostLossActivities } from '../../activities/host/activities.ts'

/** The longest time of one call. It tells a page of instances, which takes five seconds at best. */
const longestCallMs = 120_000
/** After this time without a heartbeat, the worker counts as killed, and another one repeats the call. */
const heartbeatTimeoutMs = 10_000

/** A call is repeated for ever: it fails only while the installation itself has trouble. */
export const hostLossCalls = proxyActivities<HostLossActivities>({
  startToCloseTimeout: longestCallMs,
  heartbeatTimeout: heartbeatTimeoutMs,
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '5s' },
})
