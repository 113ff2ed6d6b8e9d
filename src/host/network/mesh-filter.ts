import { SerialQueue } from '../agent/serial-queue.ts'
import type { AddressPlan } from './address-plan.ts'
import { CommandError } from './commands.ts'
import type { Commands } from './commands.ts'
import { replaceGateways } from './filter-rules.ts'
import { changeOwner, replaceAddresses } from './mesh-rules.ts'
import type { OwnedAddress } from './mesh-rules.ts'
import type { UserNumbers } from './user-numbers.ts'

/**
 * How often the addresses are loaded in a row because instances came or went meanwhile. It takes some
 * milliseconds each time, so that more than two are rare.
 */
const mostTries = 20
/** How many addresses are changed one by one. If there are more, all are loaded again. */
const mostChanges = 200

/** What a host knows about the other machines of the mesh. */
export interface OtherMachines {
  /** The addresses in the mesh of the machines whose gateways reach this host's instances. */
  readonly gateways: readonly string[]
  /** The addresses of the machines whose APIs and workers reach this host's agent, and no instance. */
  readonly controlMachines?: readonly string[]
  /**
   * Instances on other hosts: the user's UUID by the instance's address. Those of users who have no instance
   * on this host may be left out.
   */
  readonly instances: ReadonlyMap<string, string>
}

/**
 * The part of the host's filter that knows whose the addresses behind the mesh are. Users have the same
 * numbers here as in the filter of the bridge.
 */
export class MeshFilter {
  readonly #plan: AddressPlan
  readonly #commands: Commands
  readonly #users: UserNumbers
  readonly #turns = new SerialQueue()
  /** The addresses that are on this host. */
  readonly #local = new Map<string, OwnedAddress>()
  #others: OtherMachines = { gateways: [], instances: new Map() }
  /** The users that are held for `#others`, one entry for each address. */
  #held: readonly string[] = []
  /** How often an address came to this host or went. */
  #changes = 0
  /** Whether the filter has what `tell` told. */
  #isLoaded = false
  readonly #filtersBridge: () => boolean

  constructor(options: {
    readonly plan: AddressPlan
    readonly commands: Commands
    readonly users: UserNumbers
    /** Whether the bridge has a filter. */
    readonly filtersBridge: () => boolean
  }) {
    this.#plan = options.plan
    this.#commands = options.commands
    this.#users = options.users
    this.#filtersBridge = options.filtersBridge
  }

  /**
   * Tells the filter all that it has to know about other machines. What it was told before and is not told
   * again is forgotten at once.
   */
  async tell(others: OtherMachines): Promise<void> {
    await this.#turns.run(async () => {
      const [before, held] = [this.#others, this.#held]
      this.#held = [...others.instances.values()]
      for (const user of this.#held) this.#users.hold(user)
      const changes = this.#isLoaded ? this.#changesSince(before, others) : undefined
      this.#others = others
      for (const user of held) this.#users.release(user)
      if (changes === undefined || !(await this.#change(changes))) await this.#replace()
    })
  }

  /** The rules that lead from one state to the next. Undefined if all are better loaded again. */
  #changesSince(before: OtherMachines, after: OtherMachines): readonly string[] | undefined {
    if (machinesIn(before) !== machinesIn(after)) return undefined
    const gone = [...before.instances].filter(([ip, user]) => after.instances.get(ip) !== user)
    const come = [...after.instances].filter(([ip, user]) => before.instances.get(ip) !== user)
    if (gone.length + come.length > mostChanges) return undefined
    const owned = (entries: readonly (readonly [string, string])[]): readonly OwnedAddress[] =>
      entries.flatMap(([ip, user]) => (this.#local.has(ip) ? [] : [{ ip, user: this.#numberOf(user) }]))
    return [
      ...owned(gone).map((one) => this.#changeOwner('delete', one)),
      ...owned(come).map((one) => this.#changeOwner('add', one)),
    ]
  }

  /** Returns false if an instance came or went meanwhile, or if the filter is not as it should be. */
  async #change(rules: readonly string[]): Promise<boolean> {
    if (rules.length === 0) return true
    const changes = this.#changes
    try {
      await this.#commands.run(['nft', '-f', '-'], rules.join(''))
      return changes === this.#changes
    } catch (error) {
      if (error instanceof CommandError) return false
      throw error
    }
  }

  /** Loads what is known again, into sets that are new and empty. */
  async reload(): Promise<void> {
    await this.#turns.run(async () => await this.#replace())
  }

  /** An instance may come or go while the addresses are loaded, and its own change may come first. */
  async #replace(): Promise<void> {
    this.#isLoaded = false
    for (let tries = 0; tries < mostTries; tries++) {
      const changes = this.#changes
      const { gateways, controlMachines = [], instances } = this.#others
      const callers = [...new Set([...gateways, ...controlMachines])]
      const remote = [...instances.keys()].flatMap((ip) => this.#remote(ip) ?? [])
      const owned = [...this.#local.values(), ...remote.filter(({ ip }) => !this.#local.has(ip))]
      const rules =
        replaceAddresses(this.#plan, { gateways, callers, owned }, { onBridge: this.#filtersBridge() }) +
        (this.#filtersBridge() ? replaceGateways(this.#plan, gateways) : '')
      await this.#commands.run(['nft', '-f', '-'], rules)
      this.#isLoaded = changes === this.#changes
      if (this.#isLoaded) return
    }
    throw new Error(`instances came and went ${mostTries} times while the filter of the mesh was loaded`)
  }

  /** The rules by which an address is known to be on this host. What was told of it before counts no more. */
  bind({ ip, user }: OwnedAddress): string {
    const before = this.#local.get(ip) ?? this.#remote(ip)
    this.#local.set(ip, { ip, user })
    this.#changes++
    return (
      (before === undefined ? '' : this.#changeOwner('add', before) + this.#changeOwner('delete', before)) +
      this.#changeOwner('add', { ip, user })
    )
  }

  /**
   * The rules by which an address is not on this host any more. It must have been bound. If `tell` told it of
   * another host, it is there now: the instance has moved, and this host was the last to remove it.
   */
  unbind({ ip, user }: OwnedAddress): string {
    this.#local.delete(ip)
    this.#changes++
    const elsewhere = this.#remote(ip)
    return (
      this.#changeOwner('delete', { ip, user }) +
      (elsewhere === undefined ? '' : this.#changeOwner('add', elsewhere))
    )
  }

  /** Forgets everything, because the filter is gone. */
  clear(): void {
    for (const user of this.#held) this.#users.release(user)
    this.#held = []
    this.#local.clear()
    this.#others = { gateways: [], instances: new Map() }
    this.#isLoaded = false
  }

  #changeOwner(change: 'add' | 'delete', owned: OwnedAddress): string {
    return changeOwner(change, this.#plan, { ...owned, onBridge: this.#filtersBridge() })
  }

  #remote(ip: string): OwnedAddress | undefined {
    const user = this.#others.instances.get(ip)
    return user === undefined ? undefined : { ip, user: this.#numberOf(user) }
  }

  /** The number of a user who is held. */
  #numberOf(user: string): number {
    const number = this.#users.hold(user)
    this.#users.release(user)
    return number
  }
}

function machinesIn({ gateways, controlMachines = [] }: OtherMachines): string {
  return JSON.stringify([gateways, controlMachines])
}
