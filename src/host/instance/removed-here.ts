const maxRemembered = 10_000

/**
 * The latest instances and volumes that were removed here. An order that was given before the removal may
 * arrive up to some seconds after it. It must not bring the instance or volume back, because nobody would
 * remove it again.
 */
export class RemovedHere {
  readonly #uuids = new Set<string>()

  has(uuid: string): boolean {
    return this.#uuids.has(uuid)
  }

  /** It is here again. */
  delete(uuid: string): void {
    this.#uuids.delete(uuid)
  }

  add(uuid: string): void {
    this.#uuids.add(uuid)
    const [oldest] = this.#uuids
    if (oldest !== undefined && this.#uuids.size > maxRemembered) this.#uuids.delete(oldest)
  }
}
