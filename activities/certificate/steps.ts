import { X509Certificate, createPrivateKey } from 'node:crypto'
import { makeCertificateKey, makeSigningRequest } from '../../src/acme/certificate-key.ts'
import type { Diagnosis } from '../../src/acme/diagnosis.ts'
import { IssueError } from '../../src/acme/issuer.ts'
import type { Issuer } from '../../src/acme/issuer.ts'
import { addAttempt } from '../../src/db/certificate/attempts.ts'
import { clearOrder, ensureOrderKey, findOrder, setOrderUrl } from '../../src/db/certificate/orders.ts'
import { installCertificate, loadForIssue } from '../../src/db/certificate/records.ts'
import type { WantedCertificate } from '../../src/db/certificate/records.ts'
import type { Database } from '../../src/db/database.ts'
import type { SecretBox } from '../../src/db/secret-box.ts'
import { AttemptOutcome } from '../../src/domain/certificate/attempt-report.ts'
import type { AttemptReport } from '../../src/domain/certificate/attempt-report.ts'
import { CertificateStep } from '../../src/domain/certificate/lifecycle.ts'
import type { CertificateLifeEvent } from '../../src/domain/certificate/lifecycle.ts'
import type { RenewalAdvice } from '../../src/domain/certificate/schedule.ts'
import { CertificateState } from '../../src/domain/service/handler.ts'
import { factsOf } from '../../src/x509/certificate-facts.ts'
import { endOpenAttempt } from './attempt-log.ts'
import { orderInTurn } from './pace.ts'
import type { PacedOrderDeps } from './pace.ts'

export interface CertificateStepDeps extends PacedOrderDeps {
  readonly secretBox: SecretBox
  readonly issuer: Issuer
  readonly diagnosis: Diagnosis
}

export interface StepInput {
  readonly uuid: string
  readonly signal: AbortSignal
}

const gone: CertificateLifeEvent = { kind: 'gone' }

/**
 * Continues the order that is under way, or makes a new one if there is none or it is invalid. The key is
 * stored before the order is made, and the order's URL right after that.
 */
export async function openOrder(
  deps: CertificateStepDeps,
  { uuid }: StepInput,
): Promise<CertificateLifeEvent> {
  const { database, issuer, directory } = deps
  const wanted = await loadForIssue(database, uuid)
  if (wanted === undefined) return gone
  const begun: AttemptReport = { name: wanted.names[0] ?? '', authority: issuer.name }
  if ((await addAttempt(database, uuid, { ...begun })) === undefined) return gone
  const key = { uuid, directory, makeKeyPem: makeCertificateKey }
  const kept = await ensureOrderKey(deps, key)
  if (kept === undefined) return gone
  if (kept.orderUrl !== undefined) {
    const found = await issuer.find(kept.orderUrl)
    if (found !== undefined && found.state !== 'invalid') return done(CertificateStep.Order)
    await clearOrder(database, uuid)
    if ((await ensureOrderKey(deps, key)) === undefined) return gone
  }
  const opened = await orderInTurn(deps, uuid, () => issuer.open(wanted.names, replacing(wanted)))
  if (opened === undefined) return gone
  if ((await setOrderUrl(database, { uuid, directory, orderUrl: opened.url })) === undefined) {
    throw new Error('the order was cleared while it was made')
  }
  return done(CertificateStep.Order)
}

function replacing({ state, chain }: WantedCertificate): { readonly replacesChain?: string } {
  return state === CertificateState.Valid && chain !== undefined ? { replacesChain: chain } : {}
}

export async function finaliseOrder(
  deps: CertificateStepDeps,
  { uuid, signal }: StepInput,
): Promise<CertificateLifeEvent> {
  const wanted = await loadForIssue(deps.database, uuid)
  if (wanted === undefined) return gone
  const { keyPem, orderUrl } = await requireOrder(deps, uuid)
  await deps.issuer.finalise(orderUrl, await makeSigningRequest(keyPem, wanted.names), signal)
  return done(CertificateStep.Finalise)
}

/** Installs the issued certificate. It replaces the present one whole or not at all. */
export async function installOrdered(
  deps: CertificateStepDeps,
  { uuid }: StepInput,
): Promise<CertificateLifeEvent> {
  const { database, directory } = deps
  const wanted = await loadForIssue(database, uuid)
  if (wanted === undefined) return gone
  const order = await findOrder(deps, uuid, directory)
  // Installing deletes the order. If the order is gone, an earlier try has installed the certificate and was
  // broken off after that.
  if (order === undefined && wanted.chain !== undefined) return installed(database, uuid, wanted.chain)
  const { keyPem, orderUrl } = await requireOrder(deps, uuid)
  const chain = await deps.issuer.download(orderUrl, await makeSigningRequest(keyPem, wanted.names))
  const flaw = flawOf(chain, { keyPem, names: wanted.names, nowMs: deps.nowMs() })
  if (flaw !== undefined) {
    // If the order stayed, every repeat would find it, and fail again.
    await clearOrder(database, uuid)
    throw new IssueError('failed', `${deps.issuer.name} issued what can not be used: ${flaw}`)
  }
  const facts = factsOf(new X509Certificate(chain))
  if (!(await installCertificate(deps, uuid, { chain, keyPem, facts }))) return gone
  return installed(database, uuid, chain)
}

async function installed(database: Database, uuid: string, chain: string): Promise<CertificateLifeEvent> {
  await endOpenAttempt(database, uuid, { outcome: AttemptOutcome.Issued })
  const { validFromDate, validToDate } = new X509Certificate(chain)
  const validity = { notBeforeMs: validFromDate.getTime(), notAfterMs: validToDate.getTime() }
  return { kind: 'installed', validity }
}

function flawOf(
  chain: string,
  wanted: { readonly keyPem: string; readonly names: readonly string[]; readonly nowMs: number },
): string | undefined {
  const certificate = new X509Certificate(chain)
  if (!certificate.checkPrivateKey(createPrivateKey(wanted.keyPem))) return 'it is for another key'
  const missing = wanted.names.find((name) => certificate.checkHost(name, { subject: 'never' }) === undefined)
  if (missing !== undefined) return `it is not for ${missing}`
  const { validFromDate, validToDate } = certificate
  if (wanted.nowMs < validFromDate.getTime()) return `it is valid from ${validFromDate.toISOString()} only`
  return wanted.nowMs < validToDate.getTime() ? undefined : `it has ended at ${validToDate.toISOString()}`
}

export async function requireOrder(
  deps: CertificateStepDeps,
  uuid: string,
): Promise<{ readonly keyPem: string; readonly orderUrl: string }> {
  const { keyPem, orderUrl } = (await findOrder(deps, uuid, deps.directory)) ?? {}
  if (keyPem === undefined || orderUrl === undefined) {
    throw new IssueError('failed', 'the order is not kept any more, so another one has to be made')
  }
  return { keyPem, orderUrl }
}

export function done(step: CertificateStep): CertificateLifeEvent {
  return { kind: 'step-done', step }
}

/**
 * Asks when the authority advises to renew the certificate. If the authority does not answer, there is no
 * advice at present.
 */
export async function findRenewalAdvice(
  { database, issuer }: CertificateStepDeps,
  uuid: string,
): Promise<CertificateLifeEvent> {
  const wanted = await loadForIssue(database, uuid)
  if (wanted === undefined) return gone
  const advice = wanted.chain === undefined ? {} : await adviceOf(issuer, wanted.chain)
  return { kind: 'renewal-advised', advice }
}

async function adviceOf(issuer: Issuer, chain: string): Promise<RenewalAdvice> {
  try {
    const window = await issuer.renewalWindow(chain)
    if (window === undefined) return {}
    const { startMs, endMs, askAgainMs } = window
    return { window: { startMs, endMs }, askAgainAtMs: askAgainMs }
  } catch (error) {
    if (!(error instanceof IssueError)) throw error
    return error.retryAtMs === undefined ? {} : { askAgainAtMs: error.retryAtMs }
  }
}
