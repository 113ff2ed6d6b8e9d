const maxRemembered = 10_000

/**
 * What was removed here, the latest of it. An order that was given before needs seconds to get here at most,
 * and must not bring anything back: nobody would remove it again.
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
