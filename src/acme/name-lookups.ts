import { Resolver } from 'node:dns/promises'
import { LookupFailure } from '../domain/certificate/attempt-report.ts'
import type { CaaRecord, CaaSeen, DnsSeen, LookupSeen } from '../domain/certificate/attempt-report.ts'
import { printable } from './authority-problem.ts'

/** Questions to DNS, for one look at a name. No call rejects. */
export interface NameLookups {
  addresses(name: string): Promise<DnsSeen>
  caa(name: string): Promise<CaaSeen>
  /** Ends the lookups under way. Their answers count as missing. */
  cancel(): void
}

const questionTimeoutMs = 2_000
const tries = 2
const maxAddresses = 8
const maxAliases = 8
const maxCaaRecords = 20
/**
 * The most labels of a name that are asked for CAA records. In a longer name, the records of the last labels
 * stay unknown.
 */
const maxCaaClimb = 20
const maxTextLength = 200

/** Asks a server at `address:port`, or the machine's servers. */
export function openNameLookups(server?: string): NameLookups {
  const resolver = new Resolver({ timeout: questionTimeoutMs, tries })
  if (server !== undefined) resolver.setServers([server])
  return {
    addresses: async (name) => {
      const [a, aaaa, cname] = await Promise.all([
        lookedUp(resolver.resolve4(name), maxAddresses),
        lookedUp(resolver.resolve6(name), maxAddresses),
        aliases(resolver, name),
      ])
      return { a, aaaa, cname }
    },
    caa: (name) => climb(resolver, name),
    cancel: () => resolver.cancel(),
  }
}

async function lookedUp(asked: Promise<readonly string[]>, maxCount: number): Promise<LookupSeen> {
  try {
    return { found: (await asked).slice(0, maxCount) }
  } catch (error) {
    const failure = failureOf(error)
    return { found: [], ...(failure !== undefined && { failure }) }
  }
}

async function aliases(resolver: Resolver, name: string): Promise<readonly string[]> {
  const found: string[] = []
  for (let at = name; found.length < maxAliases;) {
    const [next] = (await lookedUp(resolver.resolveCname(at), 1)).found
    if (next === undefined || found.includes(next)) break
    found.push(printable(next, maxTextLength))
    at = next
  }
  return found
}

/** Asks from the name up to its last label. The first name that has records counts (RFC 8659, 3). */
async function climb(resolver: Resolver, name: string): Promise<CaaSeen> {
  const labels = name.split('.')
  for (let skipped = 0; skipped < Math.min(labels.length, maxCaaClimb); skipped++) {
    const at = labels.slice(skipped).join('.')
    try {
      const records = await resolver.resolveCaa(at)
      if (records.length > 0) return { at, records: records.slice(0, maxCaaRecords).flatMap(caaRecordsOf) }
    } catch (error) {
      const failure = failureOf(error)
      if (failure !== undefined && failure !== LookupFailure.NoSuchName) return { at, records: [], failure }
    }
  }
  const unasked = labels.slice(maxCaaClimb).join('.')
  return unasked === '' ? { records: [] } : { at: unasked, records: [], failure: LookupFailure.Other }
}

/**
 * Node returns a record as an object. The tag is the name of a property of that object, beside the property
 * for the type of the record.
 */
function caaRecordsOf(record: object & { readonly critical: number }): readonly CaaRecord[] {
  const { critical, type: _, ...tags } = record as typeof record & { readonly type?: string }
  return Object.entries(tags).map(([tag, value]) => ({
    critical: critical >= criticalBit,
    tag: printable(tag, maxTextLength),
    value: printable(value, maxTextLength),
  }))
}

const criticalBit = 128

const failures: Readonly<Record<string, LookupFailure | undefined>> = {
  ENODATA: undefined,
  ENOTFOUND: LookupFailure.NoSuchName,
  ESERVFAIL: LookupFailure.ServerFailed,
  ETIMEOUT: LookupFailure.NoAnswer,
  ECONNREFUSED: LookupFailure.NoAnswer,
  ECANCELLED: LookupFailure.NoAnswer,
}

function failureOf(error: unknown): LookupFailure | undefined {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  return Object.hasOwn(failures, code) ? failures[code] : LookupFailure.Other
}
