import type { AddressPlan } from './address-plan.ts'

/** An address of an instance and the number of its user, which is above 0. */
export interface OwnedAddress {
  readonly ip: string
  readonly user: number
}

/** How many addresses one line of orders has. The tool reads a line as a whole. */
const addressesPerLine = 500

/**
 * The sets and chains for packets between instances of this host and other machines. `owners` has the number
 * of the user of each known address, of this host and of others, and `owned` has the same as pairs: the first
 * finds the sender's user, the second tells whether that user has the destination. `gateways` has the
 * machines that may open connections to every instance, and `callers` those that may call the host itself at
 * the ports `called`.
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
    'map owners { type ipv4_addr : mark; }',
    'set owned { type ipv4_addr . mark; }',
    'chain to_mesh {',
    // Both ends of a TCP connection hear of smaller packets, so that none has to be divided on the way.
    '  tcp flags syn tcp option maxseg size set rt mtu',
    '  ip daddr @gateways ct state established,related accept',
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
    `  iifname "${mesh}" drop`,
  ]
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
): string {
  const { table } = plan
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
    ...addElements(
      plan,
      'owned',
      known.owned.map(({ ip, user }) => `${ip} . ${String(user)}`),
    ),
    '',
  ].join('\n')
}

function addElements({ table }: AddressPlan, set: string, elements: readonly string[]): readonly string[] {
  const lines: string[] = []
  for (let first = 0; first < elements.length; first += addressesPerLine) {
    const some = elements.slice(first, first + addressesPerLine)
    lines.push(`add element inet ${table} ${set} { ${some.join(', ')} }`)
  }
  return lines
}

export function changeOwner(change: 'add' | 'delete', { table }: AddressPlan, owned: OwnedAddress): string {
  const { ip, user } = owned
  return [
    `${change} element inet ${table} owners { ${ip} : ${String(user)} }`,
    `${change} element inet ${table} owned { ${ip} . ${String(user)} }`,
    '',
  ].join('\n')
}
