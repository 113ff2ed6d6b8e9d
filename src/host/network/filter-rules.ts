import type { AddressPlan } from './address-plan.ts'

/**
 * Networks that are somebody's own: what an instance must not reach even with outbound access (other instances, the host's
 * other networks, link-local services such as cloud metadata, multicast).
 */
const privateNetworks =
  '{ 0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16, 224.0.0.0/3 }'

/** Where instances may go outside: nowhere, or by this interface. */
export interface Outbound {
  readonly uplink: string
  /** May be private; then it is the one private address that is let through, for DNS only. */
  readonly nameserver: string
}

/**
 * The host's filter, loaded in one transaction and replacing what an earlier agent of this directory left. Three rules of
 * reach: an instance gets no new connection to the host; none to another instance (through the bridge the
 * ports are isolated, through the host's routing it is this filter); and out only where `outbound` is given.
 */
export function hostFilter(plan: AddressPlan, outbound: Outbound | undefined): string {
  const { table, bridge, subnet } = plan
  const forwardOut = outbound === undefined ? [] : outboundRules(bridge, outbound)
  const nat =
    outbound === undefined
      ? []
      : [
          'chain outbound { type nat hook postrouting priority srcnat; policy accept;',
          `  ip saddr ${subnet} oifname != "${bridge}" masquerade`,
          '}',
        ]
  return [
    `table inet ${table}`,
    `delete table inet ${table}`,
    `table inet ${table} {`,
    'chain to_host { type filter hook input priority filter; policy accept;',
    `  iifname "${bridge}" ct state established,related accept`,
    `  iifname "${bridge}" drop`,
    '}',
    'chain through { type filter hook forward priority filter; policy accept;',
    `  iifname "${bridge}" oifname "${bridge}" drop`,
    ...forwardOut,
    `  iifname "${bridge}" drop`,
    `  oifname "${bridge}" ct state established,related accept`,
    `  oifname "${bridge}" drop`,
    '}',
    ...nat,
    '}',
    '',
  ].join('\n')
}

function outboundRules(bridge: string, outbound: Outbound): string[] {
  const via = `iifname "${bridge}" oifname "${outbound.uplink}"`
  return [
    `  ${via} ip daddr ${outbound.nameserver} meta l4proto { tcp, udp } th dport 53 accept`,
    `  ${via} ip daddr ${privateNetworks} drop`,
    `  ${via} meta nfproto ipv4 accept`,
  ]
}

/** On the bridge itself: a VM speaks only with the MAC and the address it was given, and neither IPv6 nor anything else. */
export function bridgeFilter(plan: AddressPlan): string {
  const { table, tapPrefix } = plan
  return [
    `table bridge ${table}`,
    `delete table bridge ${table}`,
    `table bridge ${table} {`,
    'set bound { typeof iifname . ether saddr . ip saddr; }',
    'chain from_vm { type filter hook prerouting priority -300; policy accept;',
    `  iifname != "${tapPrefix}*" accept`,
    '  ether type ip iifname . ether saddr . ip saddr @bound accept',
    '  ether type arp iifname . arp saddr ether . arp saddr ip @bound accept',
    '  drop',
    '}',
    '}',
    '',
  ].join('\n')
}

export function bind(
  plan: AddressPlan,
  vm: { readonly tap: string; readonly mac: string; readonly ip: string },
): string {
  return `add element bridge ${plan.table} bound { "${vm.tap}" . ${vm.mac} . ${vm.ip} }\n`
}

export function unbind(
  plan: AddressPlan,
  vm: { readonly tap: string; readonly mac: string; readonly ip: string },
): string {
  return `delete element bridge ${plan.table} bound { "${vm.tap}" . ${vm.mac} . ${vm.ip} }\n`
}

export function noFilters(plan: AddressPlan): string {
  return ['inet', 'bridge']
    .map((family) => `table ${family} ${plan.table}\ndelete table ${family} ${plan.table}\n`)
    .join('')
}
