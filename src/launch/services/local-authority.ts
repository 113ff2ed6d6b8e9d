import { randomBytes } from 'node:crypto'
import { backDatedMs, issueLeaf, makeRoot } from '../../x509/authority.ts'
import { cryptoKeysOf, makeKey } from '../../x509/key-pair.ts'
import type { KeyPairPem } from '../../x509/key-pair.ts'
import { domainConstraint } from './domain-constraint.ts'

const dayMs = 86_400_000
/** The lifetime of a certificate: the longest that browsers accept. */
const leafDays = 397

/**
 * Makes an authority for one domain and the names below it. Clients that know name constraints (OpenSSL, Go,
 * Firefox, Chrome, Apple's) trust it for nothing else. So somebody who steals its key can pretend to be
 * Roost, but no other site.
 */
export async function makeAuthority(domain: string, nowMs: number): Promise<KeyPairPem> {
  // The name has a random part, because a list of trusted roots may have the roots of several stacks.
  const commonName = `Roost local authority ${randomBytes(3).toString('hex')}`
  return makeRoot({ commonName, nameConstraints: domainConstraint(domain) }, nowMs)
}

/**
 * Issues a certificate for the domain itself and all names one label below it. It never lives longer than
 * the authority.
 */
export async function issueWildcard(
  authority: KeyPairPem,
  domain: string,
  nowMs: number,
): Promise<KeyPairPem> {
  const key = makeKey()
  const chain = await issueLeaf(authority, {
    names: [domain, `*.${domain}`],
    publicKey: cryptoKeysOf(key).publicKey,
    notBeforeMs: nowMs - backDatedMs,
    notAfterMs: nowMs + leafDays * dayMs - backDatedMs,
  })
  return { chain, key }
}
