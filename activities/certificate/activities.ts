import { IssueError } from '../../src/acme/issuer.ts'
import { CertificateStep } from '../../src/domain/certificate/lifecycle.ts'
import type { CertificateLifeEvent } from '../../src/domain/certificate/lifecycle.ts'
import { runStep } from '../control-step.ts'
import { reportFailure } from './attempt-log.ts'
import { proveOrder } from './proof.ts'
import { finaliseOrder, findRenewalAdvice, installOrdered, openOrder } from './steps.ts'
import type { CertificateStepDeps, StepInput } from './steps.ts'

/**
 * The steps to a certificate, on the task queue `control`. Each answers what it tells the certificate's life;
 * what an authority refuses or puts off is an answer, too. What is thrown is trouble of the installation's
 * own, such as a database that is away, and worth a repeat. All may be repeated at any time: the rows say how
 * far it is, and neither a second order nor a second certificate comes of it. No input, answer or failure
 * holds a secret.
 */
export interface CertificateActivities {
  orderCertificate(input: CertificateInput): Promise<CertificateLifeEvent>
  proveCertificate(input: CertificateInput): Promise<CertificateLifeEvent>
  finaliseCertificate(input: CertificateInput): Promise<CertificateLifeEvent>
  installCertificate(input: CertificateInput): Promise<CertificateLifeEvent>
  /** When the authority would like the renewal of the one that there is. */
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
