import { ActivityCancellationType, ActivityFailure, proxyActivities } from '@temporalio/workflow'
import type { CertificateActivities, CertificateInput } from '../../activities/certificate/activities.ts'
import { CertificateStep } from '../../src/domain/certificate/lifecycle.ts'
import type { CertificateLifeEvent, CertificateWork } from '../../src/domain/certificate/lifecycle.ts'
import type { WorkCalls } from '../entity-worker.ts'

/**
 * After this time without a heartbeat of a step, Temporal assumes that the worker was killed, and gives the
 * step to another worker.
 */
const heartbeatTimeoutMs = 10_000
/** The longest step. A step waits for an authority for a few minutes at most, and then ends as put off. */
const longestStepMs = 600_000

/**
 * The retries after trouble of the installation itself, such as a worker that died or a database that is
 * away: after 1, 3, 7, 15 and 31 s. A refusal by an authority is not repeated here: the step returns it as
 * an event, and the certificate's life decides what follows.
 */
const ownTrouble = {
  initialInterval: '1s',
  backoffCoefficient: 2,
  maximumInterval: '30s',
  maximumAttempts: 6,
} as const

const summaries = {
  [CertificateStep.Order]: 'order it, or find the order',
  [CertificateStep.Prove]: 'show that the name leads here',
  [CertificateStep.Finalise]: 'have it issued',
  [CertificateStep.Install]: 'fetch and install it',
  ask: 'ask when to renew it',
} satisfies Record<CertificateWork, string>

const activityOf = {
  [CertificateStep.Order]: 'orderCertificate',
  [CertificateStep.Prove]: 'proveCertificate',
  [CertificateStep.Finalise]: 'finaliseCertificate',
  [CertificateStep.Install]: 'installCertificate',
  ask: 'findRenewalAdvice',
} satisfies Record<CertificateWork, keyof CertificateActivities>

export function certificateCalls(input: CertificateInput): WorkCalls<CertificateWork, CertificateLifeEvent> {
  return {
    perform: async (work) => [await perform(work, input)],
    eventOfFailure: eventOfTrouble,
    nameOf: (work) => work,
  }
}

/**
 * When a step is called off, it is over only when the worker has ended it. No other step begins before that.
 */
function perform(work: CertificateWork, input: CertificateInput): Promise<CertificateLifeEvent> {
  const activities = proxyActivities<CertificateActivities>({
    startToCloseTimeout: longestStepMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: ownTrouble,
    summary: summaries[work],
  })
  return activities[activityOf[work]](input)
}

/**
 * The event for a failure of the installation itself. The certificate's owner did not cause the failure, so
 * it does not count as an attempt.
 */
function eventOfTrouble(work: CertificateWork, error: unknown): CertificateLifeEvent {
  if (work === 'ask') return { kind: 'renewal-advised', advice: {} }
  const cause = error instanceof ActivityFailure ? error.cause : error
  const said = cause instanceof Error ? cause.message : 'for no reason it knows'
  return {
    kind: 'step-failed',
    step: work,
    verdict: 'later',
    reason: `this installation did not get it done: ${said}`,
  }
}
