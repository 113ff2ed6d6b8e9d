import { withoutWildcard } from './domain-name.ts'

/**
 * How users prove that a custom domain belongs to them: by a TXT record at the domain or at a zone above
 * it. Its text is told only to that user. A record proves all names below its zone, and their wildcards.
 */
export const DomainProofKind = { Off: 'off', Txt: 'txt' } as const
export type DomainProofKind = (typeof DomainProofKind)[keyof typeof DomainProofKind]

const proofLabel = '_roost-proof'
/**
 * The largest number of zones above a name that are asked for a proof. Each costs a DNS query. The shortest
 * zones are asked, because people have their zones there.
 */
const maxZonesAbove = 4

/**
 * The zones at which a proof of the name may be, the name itself first. A zone has at least two labels: no
 * user owns `com`.
 */
export function proofZones(fqdn: string): readonly string[] {
  const name = withoutWildcard(fqdn)
  const labels = name.split('.')
  const above = labels.slice(1, -1).map((_, index) => labels.slice(index + 1).join('.'))
  return [name, ...above.slice(-maxZonesAbove)]
}

/** The name of the record. */
export function proofRecord(zone: string): string {
  return `${proofLabel}.${zone}`
}

/** The text of the record. */
export function proofText(token: string): string {
  return `roost-proof=${token}`
}

/**
 * Whether one of the texts in DNS is the proof. White space around a text comes from forms that people fill
 * in.
 */
export function hasProof(texts: readonly string[], text: string): boolean {
  return texts.some((each) => each.trim() === text)
}
