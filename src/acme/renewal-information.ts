import { loadX509 } from '../x509/key-pair.ts'
import { readRenewalInformation } from './acme-documents.ts'
import { readAnswer } from './acme-session.ts'
import type { AcmeSession } from './acme-session.ts'
import { IssueError } from './issuer.ts'
import type { RenewalWindow } from './issuer.ts'
import { retryAtMs } from './retry-after.ts'

/**
 * The time between two questions, from RFC 9773, 4.3: the one to assume without a `Retry-After`, and the
 * bounds of a reasonable one.
 */
const askAgainDefaultMs = 6 * 3_600_000
const askAgainLeastMs = 60_000
const askAgainMostMs = 86_400_000

/** Returns undefined if the authority has no renewal information, or none for this certificate. */
export async function askRenewalWindow(
  session: AcmeSession,
  chain: string,
  nowMs: number,
): Promise<RenewalWindow | undefined> {
  const { renewalInfo } = await session.directory()
  const identifier = renewalInfo === undefined ? undefined : await certificateIdentifier(chain)
  if (identifier === undefined) return undefined
  try {
    const answer = await session.get(
      `${renewalInfo?.replace(/\/$/, '')}/${identifier}`,
      'renewal information',
    )
    const { startMs, endMs } = readAnswer(answer, session.authority, readRenewalInformation)
    const toldMs = (retryAtMs(answer.retryAfter, nowMs) ?? nowMs + askAgainDefaultMs) - nowMs
    return { startMs, endMs, askAgainMs: nowMs + Math.min(Math.max(toldMs, askAgainLeastMs), askAgainMostMs) }
  } catch (error) {
    if (error instanceof IssueError && error.problem?.status === 404) return undefined
    throw error
  }
}

/**
 * The identifier of a certificate by RFC 9773, 4.1. It consists of the id of its issuer's key and its serial
 * number. Returns undefined if the certificate does not name its issuer's key.
 */
export async function certificateIdentifier(chain: string): Promise<string | undefined> {
  const x509 = await loadX509()
  const certificate = new x509.X509Certificate(chain)
  const keyId = certificate.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId
  if (keyId === undefined) return undefined
  return [keyId, withSign(certificate.serialNumber)]
    .map((hex) => Buffer.from(hex, 'hex').toString('base64url'))
    .join('.')
}

/**
 * The number's bytes in DER. A zero byte is put before bytes that would otherwise read as a negative number.
 */
function withSign(hex: string): string {
  const even = hex.length % 2 === 0 ? hex : `0${hex}`
  return /^[89a-f]/i.test(even) ? `00${even}` : even
}
