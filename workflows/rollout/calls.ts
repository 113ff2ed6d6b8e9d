import { proxyActivities } from '@temporalio/workflow'
import type { RolloutActivities } from '../../activities/rollout/activities.ts'

/** The longest time of one call. It asks Temporal and hosts, a few seconds each at worst. */
const longestCallMs = 120_000
/** After this time without a heartbeat, the worker counts as killed, and another one repeats the call. */
const heartbeatTimeoutMs = 10_000

/** A call is repeated for ever: it fails only while the installation itself has trouble. */
export const rolloutCalls = proxyActivities<RolloutActivities>({
  startToCloseTimeout: longestCallMs,
  heartbeatTimeout: heartbeatTimeoutMs,
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '5s' },
})
