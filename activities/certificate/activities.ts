import { IssueError } from '../../src/acme/issuer.ts'
import { CertificateStep } from '../../src/domain/certificate/lifecycle.ts'
import type { CertificateLifeEvent } from '../../src/domain/certificate/lifecycle.ts'
import { runStep } from '../control-step.ts'
import { reportFailure } from './attempt-log.ts'
import { proveOrder } from './proof.ts'
import { finaliseOrder, findRenewalAdvice, installOrdered, openOrder } from './steps.ts'
import type { CertificateStepDeps, StepInput } from './steps.ts'

/**
 * The steps to a certificate, on the task queue `control`. Each returns an event for the certificate's life,
 * also if an authority refused the step or put it off. A step throws only if the installation itself has
 * trouble, such as a database that is away; a repeat may help then. Each step may be repeated at any time:
 * the rows say how far the attempt is, so a repeat goes on with the same order. Only if a worker dies
 * between the making of an order and the write of its URL, the repeat makes a second order. Inputs, answers
 * and failures hold no secrets.
 */
export interface CertificateActivities {
  orderCertificate(input: CertificateInput): Promise<CertificateLifeEvent>
  proveCertificate(input: CertificateInput): Promise<CertificateLifeEvent>
  finaliseCertificate(input: CertificateInput): Promise<CertificateLifeEvent>
  installCertificate(input: CertificateInput): Promise<CertificateLifeEvent>
  /** Asks the authority when it advises to renew the present certificate. */
  findRenewalAdvice(input: CertificateInput): Promise<CertificateLifeEvent>
}

export interface CertificateInput {
  readonly certificateUuid: string
}

export function createCertificateActivities(deps: CertificateStepDeps): CertificateActivities {
  const stepOf =
    (step: CertificateStep, carryOut: Step) =>
    ({ certificateUuid: uuid }: CertificateInput): Promise<CertificateLifeEvent> =>
      runStep(step, async (signal) => {
        try {
          return await carryOut(deps, { uuid, signal })
        } catch (error) {
          if (!(error instanceof IssueError)) throw error
          return reportFailure(deps.database, { uuid, step, error })
        }
      })
  return {
    orderCertificate: stepOf(CertificateStep.Order, openOrder),
    proveCertificate: stepOf(CertificateStep.Prove, proveOrder),
    finaliseCertificate: stepOf(CertificateStep.Finalise, finaliseOrder),
    installCertificate: stepOf(CertificateStep.Install, installOrdered),
    findRenewalAdvice: ({ certificateUuid: uuid }) => runStep('ask', () => findRenewalAdvice(deps, uuid)),
  }
}

type Step = (deps: CertificateStepDeps, input: StepInput) => Promise<CertificateLifeEvent>
