import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow'

/** One activity that a host does for the workflow of these tests. */
export interface HostWork {
  readonly taskQueue: string
  readonly activity: string
  readonly input: string
  readonly heartbeatTimeoutMs?: number
  readonly attempts?: number
}

export async function hostWork(work: HostWork): Promise<string> {
  const activities = proxyActivities<Record<string, (input: string) => Promise<string>>>({
    taskQueue: work.taskQueue,
    startToCloseTimeout: '5 minutes',
    heartbeatTimeout: work.heartbeatTimeoutMs ?? '1 minute',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumAttempts: work.attempts ?? 1, initialInterval: '100ms' },
  })
  return await activities[work.activity]!(work.input)
}
