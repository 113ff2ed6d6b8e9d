/**
 * Keeps a collection away from what is being written. A write names the digests that it needs: they are not
 * deleted by a collection that runs at that moment. A write waits while one of them is being deleted, and
 * then finds it gone.
 */
export class DigestGuard {
  /** How many writes under way need a digest. */
  readonly #held = new Map<string, number>()
  /** Those that were named since the collection began, although their write has ended. */
  #named = new Set<string>()
  readonly #deletions = new Map<string, Promise<void>>()

  /** Returns what is called once when the write has ended. */
  async hold(digests: readonly string[]): Promise<() => void> {
    for (const digest of digests) {
      this.#named.add(digest)
      this.#held.set(digest, (this.#held.get(digest) ?? 0) + 1)
    }
    // Once named, no further deletion of them begins.
    for (const digest of digests) await this.#deletions.get(digest)
    return () => {
      for (const digest of digests) {
        const left = (this.#held.get(digest) ?? 1) - 1
        if (left > 0) this.#held.set(digest, left)
        else this.#held.delete(digest)
      }
    }
  }

  /** A collection begins to look: whatever is named from here on it leaves alone. */
  beginCollection(): void {
    this.#named = new Set(this.#held.keys())
  }

  isNamed(digest: string): boolean {
    return this.#named.has(digest)
  }

  /** Does the work unless somebody needs the digest; says whether it was done. */
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
