import { AddressScope, PortState } from '../domain/certificate/attempt-report.ts'
import type { AttemptReport, DnsSeen, PortSeen, WebSeen } from '../domain/certificate/attempt-report.ts'
import { scopeOf as registeredScopeOf } from './address-scope.ts'
import { openNameLookups } from './name-lookups.ts'
import type { NameLookups } from './name-lookups.ts'
import { checkPort } from './port-check.ts'
import { checkWeb } from './web-check.ts'
import type { WebPorts } from './web-check.ts'

/**
 * Looks at a name from this machine, as an authority would, so that its owner can be told what is wrong with
 * it.
 */
export interface Diagnosis {
  /**
   * Takes a bounded time for every question. Rejects only if the signal is aborted, with the signal's
   * reason. Without a challenge it only tests whether the web ports accept a connection.
   */
  look(question: DiagnosisQuestion, signal: AbortSignal): Promise<NameSeen>
}

export interface DiagnosisQuestion {
  /** The name in lower case, without a final dot. */
  readonly fqdn: string
  /** The challenge of kind HTTP-01 whose answer is requested. Without it only the ports are tested. */
  readonly challenge?: { readonly token: string; readonly keyAuthorization: string }
}

export type NameSeen = Required<Pick<AttemptReport, 'name' | 'dns' | 'caa' | 'web' | 'tls'>>

export interface DiagnosisOptions {
  /** A DNS server, as `address:port`. If it is absent, the machine's DNS servers are asked. */
  readonly resolver?: string
  /** The public ports of the gateway. If they are absent, 80 and 443. */
  readonly ports?: WebPorts
  /**
   * Whether the look connects to private addresses, too. The default is false, because users choose where
   * their names lead, and other services listen in the operator's network.
   */
  readonly asksPrivate?: boolean
  /**
   * Returns the scope of an address. Tests give their own function, because they have nothing but loopback
   * addresses.
   */
  readonly scopeOf?: (address: string) => AddressScope
}

const webPorts: WebPorts = { httpPort: 80, tlsPort: 443 }
/** The time limit of one look. It is short because the caller also has to wait for the authority. */
const lookTimeoutMs = 20_000
/** The most addresses of each family that are asked. A validator asks one or two. */
const maxAsked = 2

export function createDiagnosis(options: DiagnosisOptions = {}): Diagnosis {
  const { resolver, ports = webPorts, asksPrivate = false, scopeOf = registeredScopeOf } = options
  return {
    async look(question, caller) {
      caller.throwIfAborted()
      const signal = AbortSignal.any([caller, AbortSignal.timeout(lookTimeoutMs)])
      const lookups = openNameLookups(resolver)
      const stop = () => lookups.cancel()
      signal.addEventListener('abort', stop)
      try {
        const [{ dns, web, tls }, caa] = await Promise.all([
          lookAtAddresses(lookups, { question, ports, asksPrivate, scopeOf, signal }),
          lookups.caa(question.fqdn),
        ])
        caller.throwIfAborted()
        return { name: question.fqdn, dns, caa, web, tls }
      } finally {
        signal.removeEventListener('abort', stop)
        lookups.cancel()
      }
    },
  }
}

interface Look {
  readonly question: DiagnosisQuestion
  readonly ports: WebPorts
  readonly asksPrivate: boolean
  readonly scopeOf: (address: string) => AddressScope
  readonly signal: AbortSignal
}

async function lookAtAddresses(
  lookups: NameLookups,
  { question: { fqdn, challenge }, ports, asksPrivate, scopeOf, signal }: Look,
): Promise<Pick<NameSeen, 'dns' | 'web' | 'tls'>> {
  const dns = await lookups.addresses(fqdn)
  const ownAddresses = allOf(dns)
  const asked = [...dns.aaaa.found.slice(0, maxAsked), ...dns.a.found.slice(0, maxAsked)]
  const addressesOf = async (name: string) => allOf(await lookups.addresses(name))
  const portSeen = async (address: string, port: number): Promise<PortSeen> => {
    return { address, scope: scopeOf(address), state: await checkPort(address, port, signal) }
  }
  const webSeen = (address: string): Promise<WebSeen> =>
    challenge === undefined
      ? portSeen(address, ports.httpPort)
      : checkWeb({
          fqdn,
          address,
          ownAddresses,
          ...challenge,
          ports,
          addressesOf,
          asksPrivate,
          scopeOf,
          signal,
        })
  /**
   * Sends nothing to addresses that no site can have. Sends to private addresses only if the operator
   * permits it.
   */
  const whereAllowed = async <T extends PortSeen>(address: string, look: (address: string) => Promise<T>) => {
    const scope = scopeOf(address)
    const isAllowed = scope === AddressScope.Public || (asksPrivate && scope === AddressScope.Internal)
    return isAllowed ? look(address) : { address, scope, state: PortState.NotAsked }
  }
  const [web, tls] = await Promise.all([
    Promise.all(asked.map((address) => whereAllowed(address, webSeen))),
    Promise.all(asked.map((address) => whereAllowed(address, (each) => portSeen(each, ports.tlsPort)))),
  ])
  return { dns, web, tls }
}

function allOf({ a, aaaa }: DnsSeen): readonly string[] {
  return [...aaaa.found, ...a.found]
}
