import { hostsNetwork } from '../../domain/host/private-address.ts'
import type { AddressPlan } from './address-plan.ts'
import { nameFlows } from './flow-limits.ts'

export const dnsPort = 53

/**
 * Matches addresses that may be those of hosts: index 1 of a /20 or of a /16. A host that was removed is in
 * no list any more, but guests that came from it still ask at its address.
 */
export const hostAddresses = {
  mask: '0.0.15.255',
  value: '0.0.0.1',
} as const

/**
 * The sets and chains for questions about names. An instance that kept its memory while it moved asks at the
 * address of the host on which it began. This host answers in that host's place, and the answers come from
 * the address that was asked.
 *
 * Questions at the host's own address are left out of connection tracking: the table belongs to the whole
 * host, and an instance chooses from how many ports it asks. Only connection tracking can turn an answer
 * back, so the questions of instances that ask elsewhere (`asks_elsewhere`) are tracked, and bounded like
 * other flows by `opens`.
 */
export function nameChains(
  plan: AddressPlan,
  { isBounded }: { readonly isBounded: boolean },
): readonly string[] {
  const { bridge, hostAddress } = plan
  const { mask, value } = hostAddresses
  const toNameserver = `meta l4proto { tcp, udp } th dport ${dnsPort}`
  const elsewhere = `iifname "${bridge}" ip daddr ${hostsNetwork} ip daddr & ${mask} == ${value} ip daddr != ${hostAddress} ${toNameserver}`
  return [
    `set asks_elsewhere { type ipv4_addr; size ${askers}; flags dynamic,timeout; timeout 1m; }`,
    'chain asked { type filter hook prerouting priority raw; policy accept;',
    `  ${elsewhere} update @asks_elsewhere { ip saddr }`,
    `  iifname "${bridge}" ip saddr != @asks_elsewhere ip daddr ${hostAddress} ${toNameserver} notrack`,
    '}',
    'chain answered { type filter hook output priority raw; policy accept;',
    `  oifname "${bridge}" ip daddr != @asks_elsewhere ip saddr ${hostAddress} meta l4proto { tcp, udp } th sport ${dnsPort} notrack`,
    '}',
    'chain ask_here {',
    // In a /16 an instance may have such an address, and a nameserver of its own there.
    '  meta mark set 0',
    '  meta mark set ip saddr map @owners',
    '  ip daddr . meta mark @owned meta mark set 0 accept',
    '  meta mark set 0',
    `  dnat ip to ${hostAddress}`,
    '}',
    'chain redirected { type nat hook prerouting priority dstnat; policy accept;',
    `  ${elsewhere} jump ask_here`,
    '}',
    'chain ask {',
    ...(isBounded ? ['  jump opens', ...nameFlows.map((rule) => `  ${rule}`)] : []),
    '  accept',
    '}',
  ]
}

/** The rule that admits what instances ask at the ports that the host serves. */
export function nameInput({ bridge, hostAddress }: AddressPlan): string {
  return `  iifname "${bridge}" ip daddr ${hostAddress} meta l4proto { tcp, udp } th dport @served jump ask`
}

/** The rule that lets instances ask the agent for names. It is added once the agent answers. */
export function serveNames(plan: AddressPlan): string {
  return `add element inet ${plan.table} served { ${dnsPort} }\n`
}

/** Room for every address of a /16, so that the set is never full. */
const askers = 0x10000
