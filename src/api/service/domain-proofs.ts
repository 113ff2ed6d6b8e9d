import { problem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import { proofLookupsAtOnce, proofLookupsPerSecond } from '../../contract/limits.ts'
import type { ProofTokens } from '../../db/service/proof-token.ts'
import { hasProof, proofRecord, proofText, proofZones } from '../../domain/service/domain-proof.ts'
import { takePermit } from '../../domain/token-bucket.ts'
import type { Bucket } from '../../domain/token-bucket.ts'

/** Whether custom domains are a user's to take. Outside every transaction: it asks DNS. */
export interface DomainProofs {
  /**
   * Why domains can not be taken by this user; those that can are absent. Takes as long as one look-up,
   * however many there are.
   */
  missing(userUuid: string, fqdns: readonly string[]): Promise<ReadonlyMap<string, Problem>>
}

export interface DomainProofOptions {
  readonly tokens: ProofTokens
  /** The texts of a name; undefined where DNS did not say. Bounded in time. */
  readonly textsOf: (name: string) => Promise<readonly string[] | undefined>
  readonly nowMs: () => number
}

/** Who creates a service again right after its deletion does not depend on DNS a second time. */
const rememberedMs = 600_000
/** A record that was seen last goes last. */
const maxRemembered = 10_000
const lookupRate = { perSecond: proofLookupsPerSecond, burst: proofLookupsAtOnce }
const maxBuckets = 10_000

export function createDomainProofs({ tokens, textsOf, nowMs }: DomainProofOptions): DomainProofs {
  const seenAtMs = new Map<string, number>()
  const buckets = new Map<string, Bucket>()

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
    const waitMs = takeLookup(userUuid)
    if (waitMs > 0) return { waitMs }
    const texts = await textsOf(proofRecord(zone))
    if (texts === undefined) return 'unanswered'
    if (!hasProof(texts, text)) return 'absent'
    keepNewest(seenAtMs, { key, value: nowMs(), max: maxRemembered })
    return 'proved'
  }

  function takeLookup(userUuid: string): number {
    const { bucket, retryAfterMs } = takePermit(lookupRate, buckets.get(userUuid), nowMs())
    keepNewest(buckets, { key: userUuid, value: bucket, max: maxBuckets })
    return retryAfterMs
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

/** A map keeps the order of insertion: what was set longest ago goes first. */
function keepNewest<Value>(
  map: Map<string, Value>,
  { key, value, max }: { readonly key: string; readonly value: Value; readonly max: number },
): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > max) map.delete(map.keys().next().value!)
}
