import type { AddressPlan } from './address-plan.ts'
import type { Commands } from './commands.ts'

/** The name of the set that is empty once the term is over. */
const setName = 'term'

/**
 * Cuts instances off from the network at the end of the host's term, by the kernel alone. A VMM that was
 * stopped and goes on long after its term must not answer anybody, not even for a moment and not on a
 * connection that is open: by then the instance may run on another host.
 *
 * The guard is a table of its own, with a set whose one element goes away by itself. While the set is empty,
 * nothing passes from instances to the host or the outside, or towards instances. The table comes before all
 * other filters, and what it drops is dropped. It is separate because the host's filter is replaced when an
 * agent starts, and the guard must neither open nor close then. Without a term there is no table.
 *
 * The kernel's timer stands still while the machine is suspended. That only leaves the end of a VM to its
 * keeper, whose timers go on.
 */
export class TermGuard {
  readonly #plan: AddressPlan
  readonly #commands: Commands
  /** Whether the table is as this process laid it. Undefined: it may be there from an earlier agent. */
  #isLaid: boolean | undefined

  constructor({ plan, commands }: { readonly plan: AddressPlan; readonly commands: Commands }) {
    this.#plan = plan
    this.#commands = commands
  }

  /** See `Network.guard`. */
  async set(leftMs: number | undefined): Promise<void> {
    if (leftMs === undefined) {
      if (this.#isLaid === false) return
      await this.#nft(noGuard(this.#plan))
      this.#isLaid = false
      return
    }
    const rules = this.#isLaid === true ? '' : guardTable(this.#plan)
    // Whatever becomes of this, the next call lays the whole table unless it succeeds.
    this.#isLaid = undefined
    await this.#nft(rules + guardElement(this.#plan, leftMs))
    this.#isLaid = true
  }

  async #nft(rules: string): Promise<void> {
    await this.#commands.run(['nft', '-f', '-'], rules)
  }
}

function guardName({ table }: AddressPlan): string {
  return `${table}_term`
}

/** Replaces the table. It begins closed, and the element that follows in the same transaction opens it. */
function guardTable(plan: AddressPlan): string {
  const { bridge } = plan
  return [
    ...noGuard(plan).trimEnd().split('\n'),
    `table inet ${guardName(plan)} {`,
    `set ${setName} { type ifname; flags timeout; }`,
    'chain from_vms { type filter hook prerouting priority -310; policy accept;',
    `  iifname "${bridge}" iifname != @${setName} drop`,
    '}',
    'chain to_vms { type filter hook forward priority -310; policy accept;',
    `  oifname "${bridge}" oifname != @${setName} drop`,
    '}',
    'chain host_to_vms { type filter hook output priority -310; policy accept;',
    `  oifname "${bridge}" oifname != @${setName} drop`,
    '}',
    '}',
    '',
  ].join('\n')
}

/** Older kernels do not renew an element that exists, so it is deleted and added in one transaction. */
function guardElement(plan: AddressPlan, leftMs: number): string {
  const place = `inet ${guardName(plan)} ${setName}`
  const left = Math.floor(leftMs)
  const element = left > 0 ? `add element ${place} { "${plan.bridge}" timeout ${left}ms }\n` : ''
  return `flush set ${place}\n${element}`
}

/** Deletes the table. The first line makes it if it is missing, so that the second never fails. */
export function noGuard(plan: AddressPlan): string {
  return `table inet ${guardName(plan)}\ndelete table inet ${guardName(plan)}\n`
}
