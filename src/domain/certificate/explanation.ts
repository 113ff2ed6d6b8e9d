import type { CertificateLife } from './lifecycle.ts'
import { CertificateStep } from './lifecycle.ts'
import { maxAttempts } from './schedule.ts'
import type { Explanation } from '../instance/explanation.ts'
import { CertificateState } from '../service/handler.ts'

/** What is known of a requested certificate. */
export interface ExplainedCertificate extends Pick<
  CertificateLife,
  'state' | 'attempt' | 'step' | 'nextAtMs' | 'failure' | 'validity'
> {
  readonly name: string
  readonly commonName: string
  /**
   * The attempt under way waits until the authority wants to be asked again, or until the user may order
   * again.
   */
  readonly putOff: boolean
}

/** Says what a requested certificate is doing and why, and what comes next, for people. */
export function explainCertificate(certificate: ExplainedCertificate): Explanation {
  const { now, next } = byState[certificate.state](certificate)
  const { name, failure } = certificate
  return { now: `${name} ${now}.`, next, ...(failure === undefined ? {} : { failure }) }
}

type Words = Pick<Explanation, 'now' | 'next'>

const byState = {
  [CertificateState.Pending]: (certificate) => {
    const { commonName, attempt } = certificate
    if (attempt === 0) {
      return {
        now: `is asked for, for ${commonName}, and its workflow has not begun`,
        next: 'the first attempt',
      }
    }
    return {
      now: `is not there yet: ${attemptUnderWay(certificate, `attempt ${attempt} of ${maxAttempts}`)}`,
      next: nextOf(certificate, `it is served for ${commonName} as soon as it is issued`),
    }
  },
  [CertificateState.Valid]: (certificate) => {
    const { commonName, attempt, nextAtMs } = certificate
    const served = `is served for ${commonName}, valid until ${endOf(certificate)}`
    if (attempt === 0) return { now: served, next: `it is renewed by itself, at ${timeOf(nextAtMs)}` }
    return {
      now: `${served}, and being renewed: ${attemptUnderWay(certificate, `attempt ${attempt}`)}`,
      next: nextOf(certificate, 'the new one takes its place as soon as it is issued'),
    }
  },
  [CertificateState.Error]: ({ name, commonName, attempt }) => ({
    now: `could not be got for ${commonName}, after ${attempt} ${attempt === 1 ? 'attempt' : 'attempts'}`,
    next: `nothing by itself; when what is wrong is mended, \`roost admin cert retry ${name}\` tries again at once`,
  }),
} satisfies Record<CertificateState, (certificate: ExplainedCertificate) => Words>

const doing = {
  [CertificateStep.Order]: 'asks the authority for an order',
  [CertificateStep.Prove]: 'shows the authority that the name leads here',
  [CertificateStep.Finalise]: 'waits for the authority to issue it',
  [CertificateStep.Install]: 'fetches what was issued',
} satisfies Record<CertificateStep, string>

function attemptUnderWay({ nextAtMs, putOff, step }: ExplainedCertificate, which: string): string {
  if (putOff) return `${which} waits, because it was put off`
  if (nextAtMs !== undefined) return `${which} failed`
  return step === undefined ? `${which} is under way` : `${which} ${doing[step]}`
}

function nextOf({ name, nextAtMs, putOff }: ExplainedCertificate, otherwise: string): string {
  if (nextAtMs === undefined) return otherwise
  const what = putOff ? 'the attempt goes on' : 'the next attempt'
  return `${what}, at ${timeOf(nextAtMs)}; \`roost admin cert retry ${name}\` does not wait for that`
}

function endOf({ validity }: ExplainedCertificate): string {
  return timeOf(validity?.notAfterMs)
}

function timeOf(atMs: number | undefined): string {
  return atMs === undefined ? 'an unknown time' : new Date(atMs).toISOString()
}

/** Explains a certificate that its owner uploaded, and has to upload again when it ends. */
export function explainUploaded(
  certificate: { readonly name: string; readonly commonName: string; readonly notAfterMs: number },
  nowMs: number,
): Explanation {
  const { name, commonName, notAfterMs } = certificate
  const hasEnded = notAfterMs <= nowMs
  return {
    now: `${name} was uploaded for ${commonName}, and ${hasEnded ? 'ended' : 'is valid until'} ${timeOf(notAfterMs)}.`,
    next: 'nothing by itself: what is uploaded is not renewed; upload the next one and give it to the domains of this one',
  }
}
