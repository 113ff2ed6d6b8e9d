import { explainCertificate } from '../../src/domain/certificate/explanation.ts'
import type { CertificateLife } from '../../src/domain/certificate/lifecycle.ts'
import type { CertificateSettings } from '../../src/domain/certificate/settings.ts'

/** What the Web UI shows of a certificate. */
export function certificateDetails(life: CertificateLife, { name, commonName }: CertificateSettings): string {
  const putOff = life.step !== undefined && life.nextAtMs !== undefined
  const { now, next, failure } = explainCertificate({ ...life, name, commonName, putOff })
  const lines = [`**${life.state}**: ${now}`, '', `- next: ${next}`]
  if (failure !== undefined) lines.push(`- why: ${failure}`)
  return lines.join('\n')
}

/** The summary of the timer that runs now, for people. */
export function whatIsDue({ state, step, nextAtMs, askAtMs, attempt }: CertificateLife): string {
  if (nextAtMs !== undefined && step !== undefined) return `the authority put '${step}' off`
  if (nextAtMs !== undefined && attempt > 0 && askAtMs === undefined) return 'the next attempt'
  if (askAtMs !== undefined && (nextAtMs === undefined || askAtMs < nextAtMs)) return 'ask when to renew it'
  return nextAtMs === undefined ? `${state} ends` : 'renewal'
}
