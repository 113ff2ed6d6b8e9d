/**
 * A limited number of slots, shared between users. The last free slot goes only to a user who holds none, so
 * one user alone never takes them all. The next slot goes to the waiting user who holds fewest; if several
 * hold equally many, to the one who got a slot longest ago. So a user waits for at most one slot to become
 * free, no matter how much another user has waiting.
 */
export interface UserSlots {
  /**
   * Waits for a slot for one of these users; more users may be added to the set meanwhile. Returns the slot
   * with the user that it was given to. `signal` ends the wait.
   */
  take(users: ReadonlySet<string>, signal: AbortSignal): Promise<Slot>
  /** To be called when users were added to the set of a waiting call. */
  review(): void
}

export interface Slot {
  readonly user: string
  release(): void
}

interface Waiting {
  readonly users: ReadonlySet<string>
  readonly give: (slot: Slot) => void
}

export function createUserSlots(count: number): UserSlots {
  const held = new Map<string, number>()
  /**
   * The number of each user's last turn, which tells whose turn is longest ago. Users who neither hold a
   * slot nor wait for one are forgotten.
   */
  const lastTurn = new Map<string, number>()
  const queue = new Set<Waiting>()
  let turns = 0
  let free = count

  function mayTake(user: string): boolean {
    // If there is only one slot, none can be kept free.
    return free > 1 || (free === 1 && (count === 1 || (held.get(user) ?? 0) === 0))
  }

  function isBefore(a: string, b: string): boolean {
    const difference = (held.get(a) ?? 0) - (held.get(b) ?? 0)
    return difference === 0 ? (lastTurn.get(a) ?? 0) < (lastTurn.get(b) ?? 0) : difference < 0
  }

  function next(): { readonly waiting: Waiting; readonly user: string } | undefined {
    let best: { readonly waiting: Waiting; readonly user: string } | undefined
    for (const waiting of queue) {
      for (const user of waiting.users) {
        if (mayTake(user) && (best === undefined || isBefore(user, best.user))) best = { waiting, user }
      }
    }
    return best
  }

  function review(): void {
    for (let turn = next(); turn !== undefined; turn = next()) {
      const { waiting, user } = turn
      queue.delete(waiting)
      free--
      held.set(user, (held.get(user) ?? 0) + 1)
      lastTurn.set(user, ++turns)
      waiting.give({ user, release: () => release(user) })
    }
  }

  function release(user: string): void {
    free++
    const others = (held.get(user) ?? 1) - 1
    if (others > 0) held.set(user, others)
    else held.delete(user)
    review()
    forgetIdle()
  }

  function forgetIdle(): void {
    const wanted = new Set([...queue].flatMap(({ users }) => [...users]))
    for (const user of lastTurn.keys()) if (!held.has(user) && !wanted.has(user)) lastTurn.delete(user)
  }

  return {
    review,
    async take(users, signal) {
      signal.throwIfAborted()
      const given = Promise.withResolvers<Slot>()
      const waiting = { users, give: given.resolve }
      const leave = (): void => {
        if (queue.delete(waiting)) given.reject(signal.reason)
      }
      queue.add(waiting)
      signal.addEventListener('abort', leave, { once: true })
      review()
      try {
        return await given.promise
      } finally {
        signal.removeEventListener('abort', leave)
      }
    },
  }
}
