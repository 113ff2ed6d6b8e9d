import type { AddressPlan } from './address-plan.ts'
import { hostsNetwork } from '../../domain/host/private-address.ts'
import { bridgeMac } from './address-plan.ts'
import { bandwidthRules } from './bandwidth-rules.ts'
import { flowRules } from './flow-limits.ts'
import type { FlowLimits } from './flow-limits.ts'
import { meshChains, meshInput, meshPaths } from './mesh-rules.ts'
import { hostAddresses, nameChains, nameInput } from './name-rules.ts'

/**
 * Networks that an instance must not reach even with outbound access. There are three sorts: private
 * networks (other instances, the host's other networks, the network of a provider or a laboratory);
 * link-local and multicast networks; and the addresses at which a cloud speaks to its machines. Most cloud
 * addresses are in 169.254.0.0/16 and 100.64.0.0/10. Azure's is 168.63.129.16, a public address that gives
 * the configuration and the certificates of the host to everybody who asks. Oracle's old address is in
 * 192.0.0.0/24.
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

/** The interface through which instances reach the outside. */
export interface Outbound {
  readonly uplink: string
}

/** A VM as the filters know it. `user` is a number above 0, and no two users have the same one. */
export interface BoundVm {
  readonly tap: string
  readonly mac: string
  readonly ip: string
  readonly user: number
}

/**
 * The host's filter. It is loaded in one transaction and replaces the filter of an earlier agent of this
 * directory. It has four rules of reach. An instance gets no new connection to the host, except for DNS
 * while the agent serves it. It reaches other instances of this host through the host's routing only if they
 * belong to its user: one of both has moved, and the other one's guest does not know yet that it is on the
 * same bridge. It reaches instances of other hosts through the mesh, if they belong to its user. It reaches
 * the outside only if `outbound` is given.
 *
 * The connections that an instance opens are bounded by `flows`, those to its peers too. Connections that
 * the host itself opens to an instance, such as the gateway's, are not bounded here: once the host has closed
 * one, the kernel takes its entry back when the table is nearly full, whatever the instance still sends.
 *
 * On some hosts the packets on a bridge pass this filter too. Such a packet carries a mark if the bridge's
 * own filter has permitted it.
 */
export function hostFilter(
  plan: AddressPlan,
  given: { readonly outbound: Outbound | undefined; readonly flows: FlowLimits | undefined },
): string {
  const { table, bridge, mesh, subnet } = plan
  const { outbound, flows } = given
  const opens = (match: string): string[] => (flows === undefined ? [] : [`  ${match} jump opens`])
  const admit = (match: string): string[] => [...opens(match), `  ${match} accept`]
  const forwardOut = outbound === undefined ? [] : outboundRules(plan, { outbound, admit })
  const nat =
    outbound === undefined
      ? []
      : [
          'chain outbound { type nat hook postrouting priority srcnat; policy accept;',
          `  ip saddr ${subnet} oifname != { "${bridge}", "${mesh}" } masquerade`,
          `  ip saddr @seated oifname != { "${bridge}", "${mesh}" } masquerade`,
          '}',
        ]
  return [
    `table inet ${table}`,
    `delete table inet ${table}`,
    `table inet ${table} {`,
    'set served { type inet_service; }',
    'set seated { type ipv4_addr; }',
    ...(flows === undefined ? [] : flowRules(flows)),
    ...meshChains(opens('meta nfproto ipv4')),
    ...nameChains(plan, { isBounded: flows !== undefined }),
    // Guests would take the advice to send straight to a neighbour, and keep it when that one moves.
    'chain advice { type filter hook output priority filter; policy accept;',
    `  oifname "${bridge}" icmp type redirect drop`,
    '}',
    'chain to_host { type filter hook input priority filter; policy accept;',
    `  iifname "${bridge}" ct state established,related accept`,
    nameInput(plan),
    `  iifname "${bridge}" drop`,
    ...meshInput(plan),
    '}',
    'chain through { type filter hook forward priority filter; policy accept;',
    ...admit(`iifname "${bridge}" oifname "${bridge}" meta mark != 0`),
    `  iifname "${bridge}" oifname "${bridge}" jump to_neighbour`,
    ...meshPaths(plan),
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
    // Without a filter on the bridge an instance could invent addresses, and each address would have bounds
    // of its own.
    `  ${via} ip saddr != ${subnet} ip saddr != @seated drop`,
    ...admit(`${via} meta nfproto ipv4`),
  ]
}

/**
 * The filter on the bridge itself. A VM can only send IPv4 and ARP, only with the MAC and the address that
 * it was given, and only to ports of its own user. The filter turns the sender's port into the number of its
 * user; one look-up then tells whether that user has the destination port, however many ports there are. The
 * set `received` counts the packets that a VM got from its peers. Those of peers on other hosts come from the
 * host, as do those of gateways, which are told apart by their addresses.
 *
 * A VM that moved here, and one whose peer moved away, send frames to MACs that are not on this bridge: that
 * of their old host, and those of peers. Such a frame goes to the host itself, which routes what is in it. A
 * bridge would copy it to all ports. In the other direction, the bridge answers ARP requests for addresses
 * that are elsewhere. A VM gets such an answer for hosts and for its own user's instances (`owned`, see
 * `meshChains`), so it learns nothing of what others have.
 */
export function bridgeFilter(
  plan: AddressPlan,
  given: { readonly vms: readonly BoundVm[]; readonly bandwidthMbit?: number | undefined },
): string {
  const { table, tapPrefix, hostAddress } = plan
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
    `set ${gatewaysSet} { type ipv4_addr; }`,
    'set here { type ether_addr; }',
    'set owned { type ipv4_addr . mark; }',
    `set shouts { type ifname; size ${maxPorts}; flags dynamic,timeout; timeout 1m; }`,
    ...bandwidth.sets,
    ...frameChains(plan),
    'chain from_vm { type filter hook prerouting priority -300; policy accept;',
    `  iifname != "${tapPrefix}*" accept`,
    `  ether daddr & 01:00:00:00:00:00 != 00:00:00:00:00:00 update @shouts { iifname limit rate over ${shoutsPerS}/second burst ${shoutsBurst} packets } drop`,
    ...bandwidth.sent,
    '  ether type ip iifname . ether saddr . ip saddr @bound goto to_port',
    // Both must be true: the sender of the frame, by which the bridge learns where a MAC is, and the sender
    // that the ARP message names.
    '  ether type arp iifname . ether saddr . arp saddr ip @bound iifname . arp saddr ether . arp saddr ip @bound goto to_port',
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
    // A bridge that does not know where a MAC is sends the frame to all ports. A frame of the host must
    // reach only the port that has the MAC.
    'chain from_host { type filter hook output priority -10; policy accept;',
    `  oifname "${tapPrefix}*" ether daddr & 01:00:00:00:00:00 == 00:00:00:00:00:00 oifname . ether daddr != @macs drop`,
    `  oifname != "${tapPrefix}*" accept`,
    '  arp operation reply jump answer',
    ...bandwidth.received,
    `  ether type ip ip saddr ${hostsNetwork} ip saddr != ${hostAddress} ip saddr != @${gatewaysSet} oifname . ether daddr @${receivedSet} accept`,
    '}',
    '}',
    `add element bridge ${table} here { ${bridgeMac(plan)} }`,
    ...given.vms.map((vm) => bind(plan, vm)),
    '',
  ].join('\n')
}

/** The chains for a frame that a VM may send, and for an answer of the host to an ARP request of a VM. */
function frameChains(plan: AddressPlan): readonly string[] {
  const { mask, value } = hostAddresses
  return [
    'chain to_port {',
    '  ether daddr & 01:00:00:00:00:00 != 00:00:00:00:00:00 accept',
    '  ether daddr @here accept',
    `  ether daddr set ${bridgeMac(plan)} meta pkttype set host accept`,
    '}',
    'chain answer {',
    `  arp saddr ip ${plan.hostAddress} return`,
    `  arp saddr ip ${hostsNetwork} arp saddr ip & ${mask} == ${value} return`,
    '  meta mark set 0',
    '  meta mark set oifname map @users',
    '  arp saddr ip . meta mark != @owned drop',
    '}',
  ]
}

export const receivedSet = 'received'
const gatewaysSet = 'gateways'
/**
 * The most broadcasts and multicasts of one VM per second. The bridge copies each to all ports. ARP requests
 * count too.
 */
const shoutsPerS = 100
const shoutsBurst = 200
/** The most ports in a set. A bridge has 1023 ports, and removed ports leave the set within a minute. */
const maxPorts = 4_096

export function bind(plan: AddressPlan, vm: BoundVm): string {
  return changeElements('add', plan, vm)
}

export function unbind(plan: AddressPlan, vm: BoundVm): string {
  return changeElements('delete', plan, vm)
}

/** Replaces the addresses of other machines that are no instances' ones. */
export function replaceGateways({ table }: AddressPlan, gateways: readonly string[]): string {
  const elements =
    gateways.length === 0 ? '' : `add element bridge ${table} ${gatewaysSet} { ${gateways.join(', ')} }\n`
  return `flush set bridge ${table} ${gatewaysSet}\n${elements}`
}

function changeElements(change: 'add' | 'delete', { table }: AddressPlan, vm: BoundVm): string {
  const { tap, mac, ip, user } = vm
  return [
    `${change} element bridge ${table} bound { "${tap}" . ${mac} . ${ip} }`,
    `${change} element bridge ${table} users { "${tap}" : ${user} }`,
    `${change} element bridge ${table} macs { "${tap}" . ${mac} }`,
    `${change} element bridge ${table} here { ${mac} }`,
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
