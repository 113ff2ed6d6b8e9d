import { ipv4Number } from '../../domain/host/ipv4-network.ts'
import { AddressError } from './address-plan.ts'
import type { AddressPlan } from './address-plan.ts'

/** An address of an instance and the number of its user, which is above 0. */
export interface OwnedAddress {
  readonly ip: string
  readonly user: number
}

/** Whether the bridge has a filter. It has the pairs of `owned`, too, for answers to ARP requests. */
export interface OwnersPlaces {
  readonly onBridge: boolean
}

/** How many addresses one line of orders has. The tool reads a line as a whole. */
const addressesPerLine = 500

/**
 * The sets and chains for packets between instances of this host and other machines. `owners` has the number
 * of the user of each known address, of this host and of others, and `owned` has the same as pairs: the first
 * finds the sender's user, the second tells whether that user has the destination. `gateways` has the
 * machines that may open connections to every instance, and `callers` those that may call the host itself at
 * the ports `called`. `openings` has machines that reach one further port of the host.
 *
 * `opens` are the rules that bound the flows that instances open. A flow is bounded where it begins, so
 * packets from the mesh are not counted again.
 */
export function meshChains(opens: readonly string[]): readonly string[] {
  const sameUser = [
    '  meta mark set 0',
    '  meta mark set ip saddr map @owners',
    '  ip daddr . meta mark != @owned drop',
  ]
  return [
    'set gateways { type ipv4_addr; }',
    'set callers { type ipv4_addr; }',
    'set called { type inet_service; }',
    'set openings { type ipv4_addr . inet_service; }',
    'map owners { type ipv4_addr : mark; }',
    'set owned { type ipv4_addr . mark; }',
    'chain to_mesh {',
    // Both ends of a TCP connection hear of smaller packets, so that none has to be divided on the way.
    '  tcp flags syn tcp option maxseg size set rt mtu',
    '  ip daddr @gateways ct state established,related accept',
    // An instance that moved has connections of which this host's table does not know. Only a connection of
    // its own would begin with a SYN, and the gateway's machine lets nothing else in than answers.
    ...opens.map((rule) => `  ip daddr @gateways tcp flags & syn == 0${rule}`),
    '  ip daddr @gateways tcp flags & syn == 0 accept',
    ...sameUser,
    ...opens,
    '  accept',
    '}',
    'chain to_neighbour {',
    '  meta nfproto != ipv4 drop',
    ...sameUser,
    ...opens,
    '  accept',
    '}',
    'chain from_mesh {',
    '  ip saddr @gateways accept',
    ...sameUser,
    '  accept',
    '}',
  ]
}

/** The rules that lead packets into these chains. No packet goes through this host from elsewhere. */
export function meshPaths({ bridge, mesh }: AddressPlan): readonly string[] {
  return [
    `  iifname "${bridge}" oifname "${mesh}" jump to_mesh`,
    `  iifname "${mesh}" oifname "${bridge}" jump from_mesh`,
    `  iifname "${mesh}" drop`,
    `  oifname "${mesh}" drop`,
  ]
}

/**
 * From the mesh the host itself gets replies and errors about what it sent, and what gateways, APIs and
 * workers send to its agent. It gets nothing else.
 */
export function meshInput({ mesh, hostAddress }: AddressPlan): readonly string[] {
  return [
    `  iifname "${mesh}" ct state established,related accept`,
    `  iifname "${mesh}" ip saddr @callers ip daddr ${hostAddress} tcp dport @called accept`,
    `  iifname "${mesh}" ip daddr ${hostAddress} ip saddr . tcp dport @openings accept`,
    `  iifname "${mesh}" drop`,
  ]
}

/** Throws if the arguments can be no port or no addresses of machines. */
export function checkOpening(port: number, addresses: readonly string[]): void {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new AddressError(`${port} is no port`)
  const wrong = addresses.find((address) => ipv4Number(address) === undefined)
  if (wrong !== undefined) throw new AddressError(`${wrong} is not the address of a machine in the mesh`)
}

/** The rules by which exactly these machines reach exactly these ports of the host. */
export function replaceOpenings(plan: AddressPlan, ports: ReadonlyMap<number, readonly string[]>): string {
  const elements = [...ports].flatMap(([port, addresses]) =>
    addresses.map((address) => `${address} . ${String(port)}`),
  )
  const lines = [`flush set inet ${plan.table} openings`, ...addElements(plan, 'openings', elements), '']
  return lines.join('\n')
}

/** The rule that lets machines call the agent at this port. It is added once the agent answers there. */
export function serveCallers({ table }: AddressPlan, port: number): string {
  return `add element inet ${table} called { ${String(port)} }\n`
}

/** The rules that replace all that the filter knows of addresses. */
export function replaceAddresses(
  plan: AddressPlan,
  known: {
    readonly gateways: readonly string[]
    readonly callers: readonly string[]
    readonly owned: readonly OwnedAddress[]
  },
  { onBridge }: OwnersPlaces,
): string {
  const { table } = plan
  const pairs = known.owned.map(({ ip, user }) => `${ip} . ${String(user)}`)
  return [
    `flush set inet ${table} gateways`,
    `flush set inet ${table} callers`,
    `flush map inet ${table} owners`,
    `flush set inet ${table} owned`,
    ...addElements(plan, 'gateways', known.gateways),
    ...addElements(plan, 'callers', known.callers),
    ...addElements(
      plan,
      'owners',
      known.owned.map(({ ip, user }) => `${ip} : ${String(user)}`),
    ),
    ...addElements(plan, 'owned', pairs),
    ...(onBridge ? [`flush set bridge ${table} owned`, ...addElements(plan, 'owned', pairs, 'bridge')] : []),
    '',
  ].join('\n')
}

function addElements(
  { table }: AddressPlan,
  set: string,
  elements: readonly string[],
  family: 'inet' | 'bridge' = 'inet',
): readonly string[] {
  const lines: string[] = []
  for (let first = 0; first < elements.length; first += addressesPerLine) {
    const some = elements.slice(first, first + addressesPerLine)
    lines.push(`add element ${family} ${table} ${set} { ${some.join(', ')} }`)
  }
  return lines
}

export function changeOwner(
  change: 'add' | 'delete',
  { table }: AddressPlan,
  { ip, user, onBridge }: OwnedAddress & OwnersPlaces,
): string {
  return [
    `${change} element inet ${table} owners { ${ip} : ${String(user)} }`,
    `${change} element inet ${table} owned { ${ip} . ${String(user)} }`,
    ...(onBridge ? [`${change} element bridge ${table} owned { ${ip} . ${String(user)} }`] : []),
    '',
  ].join('\n')
}
