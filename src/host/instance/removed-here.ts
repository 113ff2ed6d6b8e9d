const maxRemembered = 10_000

/**
 * The latest instances and volumes that were removed here. An order that was given before takes seconds at
 * most to get here, and must not bring them back: nobody would remove them again.
 */
export class RemovedHere {
  readonly #uuids = new Set<string>()

  has(uuid: string): boolean {
    return this.#uuids.has(uuid)
  }

  add(uuid: string): void {
    this.#uuids.add(uuid)
    const [oldest] = this.#uuids
    if (oldest !== undefined && this.#uuids.size > maxRemembered) this.#uuids.delete(oldest)
  }
}
