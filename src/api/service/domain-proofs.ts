import { problem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import { proofLookupsAtOnce, proofLookupsPerSecond } from '../../contract/limits.ts'
import type { ProofTokens } from '../../db/service/proof-token.ts'
import { hasProof, proofRecord, proofText, proofZones } from '../../domain/service/domain-proof.ts'
import { TokenBuckets } from '../../domain/token-bucket.ts'

/**
 * Checks whether a user may take custom domains. It must not be called inside a transaction, because it asks
 * DNS.
 */
export interface DomainProofs {
  /**
   * Returns the domains that this user can not take, each with the reason. Domains that the user can take
   * are left out. The call takes as long as one look-up, however many domains there are.
   */
  missing(userUuid: string, fqdns: readonly string[]): Promise<ReadonlyMap<string, Problem>>
}

export interface DomainProofOptions {
  readonly tokens: ProofTokens
  /** Returns the texts of a name, or undefined if DNS gave no answer. It ends within a bounded time. */
  readonly textsOf: (name: string) => Promise<readonly string[] | undefined>
  readonly nowMs: () => number
}

/**
 * How long a proof is remembered. So a service that is created again right after its deletion does not
 * depend on DNS a second time.
 */
const rememberedMs = 600_000
/**
 * The largest number of remembered proofs. With more, the one that was seen longest ago is forgotten first.
 */
const maxRemembered = 10_000
const lookupRate = { perSecond: proofLookupsPerSecond, burst: proofLookupsAtOnce }
const maxBuckets = 10_000

export function createDomainProofs({ tokens, textsOf, nowMs }: DomainProofOptions): DomainProofs {
  const seenAtMs = new Map<string, number>()
  const lookups = new TokenBuckets(lookupRate, maxBuckets)

  return {
    async missing(userUuid, fqdns) {
      const text = proofText(tokens(userUuid))
      const looked = new Map<string, Promise<Seen>>()
      const look = (zone: string): Promise<Seen> => {
        const known = looked.get(zone)
        if (known !== undefined) return known
        const seen = lookAt(zone, { userUuid, text })
        looked.set(zone, seen)
        return seen
      }
      const found = await Promise.all(
        fqdns.map(async (fqdn) => [fqdn, await missingFor(fqdn, text, look)] as const),
      )
      return new Map(found.flatMap(([fqdn, wrong]) => (wrong === undefined ? [] : [[fqdn, wrong]])))
    },
  }

  async function lookAt(
    zone: string,
    { userUuid, text }: { readonly userUuid: string; readonly text: string },
  ): Promise<Seen> {
    const key = `${userUuid} ${zone}`
    if (nowMs() - (seenAtMs.get(key) ?? -Infinity) < rememberedMs) return 'proved'
    const waitMs = lookups.waitFor(userUuid, nowMs())
    if (waitMs > 0) return { waitMs }
    const texts = await textsOf(proofRecord(zone))
    if (texts === undefined) return 'unanswered'
    if (!hasProof(texts, text)) return 'absent'
    keepNewest(seenAtMs, { key, value: nowMs(), max: maxRemembered })
    return 'proved'
  }
}

type Seen = 'proved' | 'absent' | 'unanswered' | { readonly waitMs: number }

async function missingFor(
  fqdn: string,
  text: string,
  look: (zone: string) => Promise<Seen>,
): Promise<Problem | undefined> {
  const [own = fqdn, ...above] = proofZones(fqdn)
  const seen = await Promise.all([own, ...above].map(look))
  if (seen.includes('proved')) return undefined
  const waits = seen.flatMap((each) => (typeof each === 'string' ? [] : [each.waitMs]))
  if (waits.length > 0) return problem('tooManyLookups', { seconds: Math.ceil(Math.max(...waits) / 1_000) })
  const record = proofRecord(own)
  if (seen.includes('unanswered')) return problem('domainProofUnanswered', { fqdn, record })
  return problem('domainUnproved', { fqdn, record, text, any: proofRecord('<domain>') })
}

/**
 * Sets a value. If there are too many values then, drops the one that was set longest ago: a map keeps the
 * order of insertion.
 */
function keepNewest<Value>(
  map: Map<string, Value>,
  { key, value, max }: { readonly key: string; readonly value: Value; readonly max: number },
): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > max) map.delete(map.keys().next().value!)
}
