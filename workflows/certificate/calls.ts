import { ActivityCancellationType, ActivityFailure, proxyActivities } from '@temporalio/workflow'
import type { CertificateActivities, CertificateInput } from '../../activities/certificate/activities.ts'
import { CertificateStep } from '../../src/domain/certificate/lifecycle.ts'
import type { CertificateLifeEvent, CertificateWork } from '../../src/domain/certificate/lifecycle.ts'
import type { WorkCalls } from '../entity-worker.ts'

/** A worker that was killed while it worked is noticed after this. */
const heartbeatTimeoutMs = 10_000
/** An authority is waited for some minutes at most; then it has put the step off. */
const longestStepMs = 600_000

/**
 * Trouble of the installation's own, such as a worker that died or a database that is away, is tried again
 * here, after 1, 3, 7, 15 and 31 s. What an authority says is an answer, and for the certificate's life to
 * judge.
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

/** Called off, it is over when the worker let go of it: no other step begins before. */
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

/** It is nobody's fault who asked for the certificate, so it is no attempt. */
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
