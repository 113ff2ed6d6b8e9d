/**
 * Who is under way at the moment, in the order of coming. It is used where members come and go with every
 * request, because a `Set` is not made for that: when its table is full of holes it takes a new one, and the
 * old one, which still names everybody who was there, points to the new one. As soon as one of them has grown
 * old, all that follow are kept until the next full collection, and with them nearly every request: each
 * minor collection then copied tens of megabytes, and all requests stood for 25 ms.
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

  /** Gives what takes the member out again. */
  add(member: Member): Entry<Member> {
    const entry = new Entry(member, this.#last)
    if (this.#last === undefined) this.#first = entry
    else this.#last.next = entry
    this.#last = entry
    this.#size += 1
    return entry
  }

  /** Idempotent. */
  remove(entry: Entry<Member>): void {
    if (entry.member === undefined) return
    const { previous, next } = entry
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    this.#size -= 1
    // What is out points nowhere, so that it keeps nobody alive.
    entry.member = undefined
    entry.previous = undefined
    entry.next = undefined
  }

  /** Those who are there now; who leaves meanwhile is left out. */
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
