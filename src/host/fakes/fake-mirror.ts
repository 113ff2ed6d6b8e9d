import { open } from 'node:fs/promises'
import type { MirrorTarget, VolumeMirror } from '../vmm/volume-mirror.ts'

const pieceBytes = 1024 * 1024

/** The mirror of a fake VM: copies the volume's file, if there is one, and what `write` gives it. */
export class FakeMirror implements VolumeMirror {
  readonly #target: MirrorTarget
  readonly #isReady = Promise.withResolvers<boolean>()
  readonly #isOver = Promise.withResolvers<boolean>()
  readonly ready = this.#isReady.promise
  readonly over = this.#isOver.promise
  /** Everything that goes to the target, in its order. */
  #sending: Promise<void>
  #hasAll = false

  constructor(path: string | undefined, target: MirrorTarget) {
    this.#target = target
    this.#sending = this.#copy(path)
    this.#sending.then(
      () => {
        this.#hasAll = true
        this.#isReady.resolve(true)
      },
      () => this.cancel(),
    )
  }

  /** Passes on what the VM writes to its volume. */
  write(at: number, data: Buffer): void {
    this.#sending = this.#sending.then(async () => await this.#target.write(at, data))
    this.#sending.catch(() => this.cancel())
  }

  /** The VM stands still. Resolves with whether the target has all. */
  async finish(): Promise<boolean> {
    if (!this.#hasAll) {
      this.cancel()
      return false
    }
    return await this.#sending.then(
      () => this.#hasAll,
      () => false,
    )
  }

  /** The VM has become its snapshot. */
  complete(): void {
    this.#isOver.resolve(true)
  }

  cancel(): void {
    this.#hasAll = false
    this.#isReady.resolve(false)
    this.#isOver.resolve(false)
  }

  async #copy(path: string | undefined): Promise<void> {
    const { bytes } = this.#target
    if (path === undefined) return await this.#target.zero(0, bytes)
    await using file = await open(path)
    for (let at = 0; at < bytes; at += pieceBytes) {
      const data = Buffer.alloc(Math.min(pieceBytes, bytes - at))
      await file.read(data, 0, data.length, at)
      if (data.every((byte) => byte === 0)) await this.#target.zero(at, data.length)
      else await this.#target.write(at, data)
    }
  }
}
