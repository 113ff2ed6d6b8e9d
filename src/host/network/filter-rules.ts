import type { AddressPlan } from './address-plan.ts'
import { bandwidthRules } from './bandwidth-rules.ts'
import { flowRules } from './flow-limits.ts'
import type { FlowLimits } from './flow-limits.ts'

/**
 * Networks that an instance must not reach even with outbound access. Three sorts: private ones (other
 * instances, the host's other networks, the network of a provider or a laboratory); link-local and multicast
 * ones; and the addresses at which a cloud speaks to its machines. Most of those are in 169.254.0.0/16 and
 * 100.64.0.0/10. Azure's is 168.63.129.16, a public address that gives whoever asks the configuration and the
 * certificates of the host; Oracle's old one is in 192.0.0.0/24.
 */
const closedNetworks = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
]

/** Where instances may go outside: nowhere, or by this interface. */
export interface Outbound {
  readonly uplink: string
}

/** A VM as the filters see it. `user` is a number above 0 that no other user has. */
export interface BoundVm {
  readonly tap: string
  readonly mac: string
  readonly ip: string
  readonly user: number
}

export const dnsPort = 53

/**
 * The host's filter, loaded in one transaction and replacing what an earlier agent of this directory left.
 * Three rules of reach: an instance gets no new connection to the host, but for DNS while the agent serves
 * it; none to another instance by way of the host's routing; and out only where `outbound` is given.
 *
 * What an instance opens is bounded by `flows`, to its peers as well. DNS is left out of connection tracking:
 * the table is the whole host's, and instances choose how many ports they ask from. What the host itself
 * opens to an instance, such as the gateway, is not bounded here: once the host has closed such a flow, the
 * kernel takes its entry back when the table is nearly full, whatever the instance still sends.
 *
 * What carries a mark here comes from the bridge's own filter, which has permitted it: some hosts show this
 * one what bridges carry.
 */
export function hostFilter(
  plan: AddressPlan,
  given: { readonly outbound: Outbound | undefined; readonly flows: FlowLimits | undefined },
): string {
  const { table, bridge, subnet, hostAddress } = plan
  const { outbound, flows } = given
  const admit = (match: string): string[] => [
    ...(flows === undefined ? [] : [`  ${match} jump opens`]),
    `  ${match} accept`,
  ]
  const forwardOut = outbound === undefined ? [] : outboundRules(plan, { outbound, admit })
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
    'set served { type inet_service; }',
    ...(flows === undefined ? [] : flowRules(flows)),
    'chain asked { type filter hook prerouting priority raw; policy accept;',
    `  iifname "${bridge}" ip daddr ${hostAddress} meta l4proto { tcp, udp } th dport ${dnsPort} notrack`,
    '}',
    'chain answered { type filter hook output priority raw; policy accept;',
    `  oifname "${bridge}" ip saddr ${hostAddress} meta l4proto { tcp, udp } th sport ${dnsPort} notrack`,
    '}',
    'chain to_host { type filter hook input priority filter; policy accept;',
    `  iifname "${bridge}" ct state established,related accept`,
    `  iifname "${bridge}" ip daddr ${hostAddress} meta l4proto { tcp, udp } th dport @served accept`,
    `  iifname "${bridge}" drop`,
    '}',
    'chain through { type filter hook forward priority filter; policy accept;',
    ...admit(`iifname "${bridge}" oifname "${bridge}" meta mark != 0`),
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

function outboundRules(
  { bridge, subnet }: AddressPlan,
  { outbound, admit }: { readonly outbound: Outbound; readonly admit: (match: string) => string[] },
): string[] {
  const via = `iifname "${bridge}" oifname "${outbound.uplink}"`
  return [
    `  ${via} ip daddr { ${closedNetworks.join(', ')} } drop`,
    // Where the bridge has no filter, an instance could invent addresses, and each would have bounds of its
    // own.
    `  ${via} ip saddr != ${subnet} drop`,
    ...admit(`${via} meta nfproto ipv4`),
  ]
}

/** Lets instances ask the agent for names, from when it answers. */
export function serveNames(plan: AddressPlan): string {
  return `add element inet ${plan.table} served { ${dnsPort} }\n`
}

/**
 * On the bridge itself: a VM speaks only with the MAC and the address it was given, IPv4 and ARP and nothing
 * else, and only to ports of its own user. Who sends is turned into the number of a user, and whether that
 * user has the port where it is to go is one look-up, however many there are. `received` counts what a VM got
 * from its peers.
 */
export function bridgeFilter(
  plan: AddressPlan,
  given: { readonly vms: readonly BoundVm[]; readonly bandwidthMbit?: number | undefined },
): string {
  const { table, tapPrefix } = plan
  const bandwidth = bandwidthRules(given.bandwidthMbit, { most: maxPorts })
  return [
    `table bridge ${table}`,
    `delete table bridge ${table}`,
    `table bridge ${table} {`,
    'set bound { typeof iifname . ether saddr . ip saddr; }',
    'map users { typeof iifname : meta mark; }',
    'set peers { typeof oifname . meta mark; }',
    'set macs { typeof oifname . ether daddr; }',
    `set ${receivedSet} { typeof oifname . ether daddr; counter; }`,
    `set shouts { type ifname; size ${maxPorts}; flags dynamic,timeout; timeout 1m; }`,
    ...bandwidth.sets,
    'chain from_vm { type filter hook prerouting priority -300; policy accept;',
    `  iifname != "${tapPrefix}*" accept`,
    `  ether daddr & 01:00:00:00:00:00 != 00:00:00:00:00:00 update @shouts { iifname limit rate over ${shoutsPerS}/second burst ${shoutsBurst} packets } drop`,
    ...bandwidth.sent,
    '  ether type ip iifname . ether saddr . ip saddr @bound accept',
    // Both who sent the frame, by which the bridge learns where a MAC is, and what the frame says about it.
    '  ether type arp iifname . ether saddr . arp saddr ip @bound iifname . arp saddr ether . arp saddr ip @bound accept',
    '  drop',
    '}',
    'chain between { type filter hook forward priority -10; policy accept;',
    `  iifname != "${tapPrefix}*" oifname != "${tapPrefix}*" accept`,
    '  meta mark set 0',
    '  meta mark set iifname map @users',
    '  oifname . meta mark != @peers drop',
    ...bandwidth.received,
    `  ether type ip oifname . ether daddr @${receivedSet} accept`,
    '}',
    // A bridge that does not know where a MAC is sends to all ports; what the host says is for one alone.
    'chain from_host { type filter hook output priority -10; policy accept;',
    `  oifname "${tapPrefix}*" ether daddr & 01:00:00:00:00:00 == 00:00:00:00:00:00 oifname . ether daddr != @macs drop`,
    `  oifname != "${tapPrefix}*" accept`,
    ...bandwidth.received,
    '}',
    '}',
    ...given.vms.map((vm) => bind(plan, vm)),
    '',
  ].join('\n')
}

export const receivedSet = 'received'
/** Broadcasts are copied to every port of the bridge; asking for a peer's MAC is one. */
const shoutsPerS = 100
const shoutsBurst = 200
/** A bridge has 1023 ports; those that are gone are forgotten within a minute. */
const maxPorts = 4_096

export function bind(plan: AddressPlan, vm: BoundVm): string {
  return changeElements('add', plan, vm)
}

export function unbind(plan: AddressPlan, vm: BoundVm): string {
  return changeElements('delete', plan, vm)
}

function changeElements(change: 'add' | 'delete', { table }: AddressPlan, vm: BoundVm): string {
  const { tap, mac, ip, user } = vm
  return [
    `${change} element bridge ${table} bound { "${tap}" . ${mac} . ${ip} }`,
    `${change} element bridge ${table} users { "${tap}" : ${user} }`,
    `${change} element bridge ${table} macs { "${tap}" . ${mac} }`,
    `${change} element bridge ${table} peers { "${tap}" . ${user} }`,
    `${change} element bridge ${table} ${receivedSet} { "${tap}" . ${mac} }`,
    '',
  ].join('\n')
}

export function noFilters(plan: AddressPlan): string {
  return ['inet', 'bridge']
    .map((family) => `table ${family} ${plan.table}\ndelete table ${family} ${plan.table}\n`)
    .join('')
}
