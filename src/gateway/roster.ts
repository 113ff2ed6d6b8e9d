/**
 * A list of what is under way at the moment, in the order of coming. It is used where members are added and
 * removed with every request, because a `Set` is not made for that. When the table of a `Set` is full of
 * holes, the `Set` makes a new table, and the old table, which still refers to all former members, points
 * to the new one. Once one of these tables has become old for the garbage collector, all that follow are
 * kept until the next full collection, and with them nearly every request. In a measurement, each minor
 * collection then copied tens of megabytes, and all requests were held up for 25 ms.
 */
export class Roster<Member extends object> {
  #first: Entry<Member> | undefined
  #last: Entry<Member> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  get first(): Member | undefined {
    return this.#first?.member
  }

  /** Returns the entry by which the member is removed. */
  add(member: Member): Entry<Member> {
    const entry = new Entry(member, this.#last)
    if (this.#last === undefined) this.#first = entry
    else this.#last.next = entry
    this.#last = entry
    this.#size += 1
    return entry
  }

  /** Removes a member. Idempotent. */
  remove(entry: Entry<Member>): void {
    if (entry.member === undefined) return
    const { previous, next } = entry
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    this.#size -= 1
    // A removed entry points nowhere, so that it keeps no member alive.
    entry.member = undefined
    entry.previous = undefined
    entry.next = undefined
  }

  /** Yields the members of this moment, without those that leave before their turn. */
  *[Symbol.iterator](): Generator<Member> {
    const entries: Entry<Member>[] = []
    for (let entry = this.#first; entry !== undefined; entry = entry.next) entries.push(entry)
    for (const { member } of entries) if (member !== undefined) yield member
  }
}

/** A place in one roster. */
export class Entry<Member extends object> {
  member: Member | undefined
  previous: Entry<Member> | undefined
  next: Entry<Member> | undefined = undefined

  constructor(member: Member, previous: Entry<Member> | undefined) {
    this.member = member
    this.previous = previous
  }
}
