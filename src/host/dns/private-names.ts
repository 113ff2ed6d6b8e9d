import type { NameLine, PrivateName } from '../../domain/service/route-feed.ts'

/** The most names below a name that a question looks at, so that no question takes long. */
const maxBelow = 64

/**
 * The private names that the instances of this host may look up, by user: those of all instances of the users
 * who have one here. Each line of the API's stream is
 * applied as it comes, so a change is visible at once.
 */
export class PrivateNames {
  readonly #byUuid = new Map<string, PrivateName>()
  readonly #users = new Map<string, UserNames>()
  /** The users of whom the current block told something. */
  readonly #touched = new Set<string>()
  /**
   * The UUIDs that the current block has named so far. It is defined only while a block that names
   * everything is read.
   */
  #told: Set<string> | undefined
  #revision: string | undefined
  /** A number that grows with every change of the names. */
  #changes = 0

  /** The revision that was read last. After a break the stream goes on from it. */
  get revision(): string | undefined {
    return this.#revision
  }

  get changes(): number {
    return this.#changes
  }

  all(): readonly PrivateName[] {
    return [...this.#byUuid.values()]
  }

  apply(line: NameLine): void {
    switch (line.kind) {
      case 'begin':
        this.#told = line.snapshot ? new Set() : undefined
        break
      case 'name':
        this.#told?.add(line.name.uuid)
        this.#put(line.name)
        break
      case 'gone':
        this.#drop(line.id)
        break
      case 'end':
        this.#leaveOut()
        this.#forgetStrangers()
        this.#revision = line.revision
        break
      case 'beat':
        break
    }
  }

  /** The instances on other hosts: the user's UUID by the address. */
  elsewhere(): ReadonlyMap<string, string> {
    return new Map(
      this.all().flatMap(({ isElsewhere, privateIp, userUuid }) =>
        isElsewhere === true ? [[privateIp, userUuid]] : [],
      ),
    )
  }

  /** Adds the names that an earlier agent knew. They are valid until the API sends the current ones. */
  remember(names: readonly PrivateName[]): void {
    for (const name of names) this.#put(name)
  }

  /** The address of an instance. `name` is in lower case, without `.internal`. */
  addressOf(userUuid: string, name: string): string | undefined {
    const uuid = this.#users.get(userUuid)?.uuids.get(name)
    return uuid === undefined ? undefined : this.#byUuid.get(uuid)?.privateIp
  }

  /**
   * The addresses of an instance and of those that are named directly below it, the instance's own first. A
   * name with several instances, such as a service of a Compose file, is told so.
   */
  addressesOf(userUuid: string, name: string): readonly string[] {
    const below = this.#users.get(userUuid)?.below.get(name) ?? []
    return [name, ...[...below].slice(0, maxBelow)].flatMap((one) => this.addressOf(userUuid, one) ?? [])
  }

  /**
   * Whether some name ends with `.<suffix>`. If so, the suffix exists as a name too, but has no address.
   */
  hasBelow(userUuid: string, suffix: string): boolean {
    return (this.#users.get(userUuid)?.suffixes.get(suffix) ?? 0) > 0
  }

  nameAt(userUuid: string, ip: string): string | undefined {
    const uuid = this.#users.get(userUuid)?.addresses.get(ip)
    return uuid === undefined ? undefined : this.#byUuid.get(uuid)?.name
  }

  #leaveOut(): void {
    const told = this.#told
    this.#told = undefined
    if (told === undefined) return
    for (const uuid of this.#byUuid.keys()) if (!told.has(uuid)) this.#drop(uuid)
  }

  /** A user who has no instance on this host any more is not told of from now on. */
  #forgetStrangers(): void {
    for (const user of this.#touched) {
      const names = this.#users.get(user)
      if (names?.isHere === false) for (const uuid of names.members.keys()) this.#drop(uuid)
    }
    this.#touched.clear()
  }

  #put(name: PrivateName): void {
    this.#drop(name.uuid)
    this.#touched.add(name.userUuid)
    this.#changes += 1
    this.#byUuid.set(name.uuid, name)
    const names = this.#users.get(name.userUuid) ?? new UserNames()
    this.#users.set(name.userUuid, names)
    names.add(name)
  }

  #drop(uuid: string): void {
    const found = this.#byUuid.get(uuid)
    if (found === undefined) return
    this.#changes += 1
    this.#touched.add(found.userUuid)
    this.#byUuid.delete(uuid)
    const names = this.#users.get(found.userUuid)
    names?.remove(found)
    if (names?.isEmpty === true) this.#users.delete(found.userUuid)
  }
}

/**
 * The names of one user. When a name or an address goes from one instance to another, the new holder may be
 * reported before the old one is deleted. So an entry is only removed together with its current holder.
 */
class UserNames {
  /** Whether each instance is on this host, by UUID. */
  readonly members = new Map<string, boolean>()
  readonly uuids = new Map<string, string>()
  readonly addresses = new Map<string, string>()
  readonly suffixes = new Map<string, number>()
  /** The names that are one label longer than a name. */
  readonly below = new Map<string, Set<string>>()

  get isEmpty(): boolean {
    return this.members.size === 0
  }

  get isHere(): boolean {
    return [...this.members.values()].some(Boolean)
  }

  add({ uuid, name, privateIp, isElsewhere }: PrivateName): void {
    this.members.set(uuid, isElsewhere !== true)
    this.uuids.set(name, uuid)
    this.addresses.set(privateIp, uuid)
    for (const suffix of suffixesOf(name)) this.suffixes.set(suffix, (this.suffixes.get(suffix) ?? 0) + 1)
    const [parent] = suffixesOf(name)
    if (parent === undefined) return
    const below = this.below.get(parent) ?? new Set()
    this.below.set(parent, below.add(name))
  }

  remove({ uuid, name, privateIp }: PrivateName): void {
    this.members.delete(uuid)
    if (this.uuids.get(name) === uuid) {
      this.uuids.delete(name)
      this.#forgetBelow(name)
    }
    if (this.addresses.get(privateIp) === uuid) this.addresses.delete(privateIp)
    for (const suffix of suffixesOf(name)) {
      const left = (this.suffixes.get(suffix) ?? 1) - 1
      if (left === 0) this.suffixes.delete(suffix)
      else this.suffixes.set(suffix, left)
    }
  }

  #forgetBelow(name: string): void {
    const [parent = ''] = suffixesOf(name)
    const below = this.below.get(parent)
    below?.delete(name)
    if (below?.size === 0) this.below.delete(parent)
  }
}

function suffixesOf(name: string): readonly string[] {
  const labels = name.split('.')
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'))
}
