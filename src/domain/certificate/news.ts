import { AskerKind } from '../event/asker.ts'
import type { EventFacts, News } from '../event/news.ts'
import { UserEventKind } from '../event/user-event-kind.ts'
import { CertificateState } from '../service/handler.ts'
import type { CertificateLife, CertificateLifeEvent } from './lifecycle.ts'
import { maxAttempts } from './schedule.ts'

/**
 * What the owner of a certificate is told about one decision of its life: that an attempt begins, what it
 * came to, and every change of the state. Nothing is told of a life that readers see unchanged.
 */
export function certificateNews(
  before: CertificateLife,
  event: CertificateLifeEvent,
  after: CertificateLife,
): readonly News[] {
  if (before.revision === after.revision) return []
  const asker = { by: event.kind === 'retry' ? AskerKind.Operator : AskerKind.Platform }
  const change = { from: before.state, to: after.state, asker }
  const { validity, failure } = after
  if (event.kind === 'installed') {
    const isRenewal = before.state === CertificateState.Valid
    const until = new Date(event.validity.notAfterMs).toISOString()
    const why = `the authority ${isRenewal ? 'renewed' : 'issued'} it, valid until ${until}`
    return [{ ...change, kind: UserEventKind.CertificateInstalled, why, ...factsOf(validity) }]
  }
  if (event.kind === 'step-failed' && failure !== undefined) {
    return [{ ...change, kind: UserEventKind.CertificateFailure, why: `${failure}${nextTry(after)}` }]
  }
  if (before.state !== after.state) {
    return [{ ...change, kind: UserEventKind.CertificateState, why: whyChanged(event) }]
  }
  if (after.step === undefined || before.attempt === after.attempt) return []
  return [{ ...change, kind: UserEventKind.CertificateAttempt, why: whichAttempt(after) }]
}

function factsOf(validity: CertificateLife['validity']): { readonly facts?: EventFacts } {
  return validity === undefined ? {} : { facts: { not_after: new Date(validity.notAfterMs).toISOString() } }
}

function nextTry({ state, nextAtMs }: CertificateLife): string {
  if (state === CertificateState.Error) return '; nothing is tried again by itself'
  return nextAtMs === undefined ? '' : `; it is tried again at ${new Date(nextAtMs).toISOString()}`
}

function whyChanged({ kind }: CertificateLifeEvent): string {
  return kind === 'retry' ? 'somebody asked to try again' : 'it expired before it was renewed'
}

function whichAttempt({ state, attempt }: CertificateLife): string {
  if (state === CertificateState.Valid) return `its renewal is due: attempt ${attempt} begins`
  return `attempt ${attempt} of ${maxAttempts} begins`
}
