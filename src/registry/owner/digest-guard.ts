/**
 * Protects what is being written from a collection. A write names the digests that it needs, and a
 * collection that runs at that moment does not delete them. If one of these digests is being deleted
 * already, the write waits for the end of the deletion, and then finds that the digest does not exist any
 * more.
 */
export class DigestGuard {
  /** How many writes under way need a digest. */
  readonly #held = new Map<string, number>()
  /**
   * The digests that writes have named since the collection began. A digest stays here even if its write has
   * ended.
   */
  #named = new Set<string>()
  readonly #deletions = new Map<string, Promise<void>>()

  /**
   * Names the digests of a write. Returns a function that the caller calls once, when the write has ended.
   */
  async hold(digests: readonly string[]): Promise<() => void> {
    for (const digest of digests) {
      this.#named.add(digest)
      this.#held.set(digest, (this.#held.get(digest) ?? 0) + 1)
    }
    // Once digests are named, no further deletion of them begins.
    for (const digest of digests) await this.#deletions.get(digest)
    return () => {
      for (const digest of digests) {
        const left = (this.#held.get(digest) ?? 1) - 1
        if (left > 0) this.#held.set(digest, left)
        else this.#held.delete(digest)
      }
    }
  }

  /**
   * Called when a collection begins to look. The collection spares every digest that is named from here on.
   */
  beginCollection(): void {
    this.#named = new Set(this.#held.keys())
  }

  isNamed(digest: string): boolean {
    return this.#named.has(digest)
  }

  /** Does the work of a deletion unless a write needs the digest. Returns whether the work was done. */
  async delete(digest: string, work: () => Promise<void>): Promise<boolean> {
    if (this.#named.has(digest)) return false
    const deletion = work()
    this.#deletions.set(
      digest,
      deletion.catch(() => undefined),
    )
    try {
      await deletion
      return true
    } finally {
      this.#deletions.delete(digest)
    }
  }
}
