import type { MirrorTarget } from '../../../src/host/vmm/volume-mirror.ts'

/** A target in memory. */
export class MirrorCopy implements MirrorTarget {
  readonly content: Buffer
  fails = false
  hangs = false
  readonly #goingOn = Promise.withResolvers<void>()

  constructor(bytes: number) {
    this.content = Buffer.alloc(bytes)
  }

  get bytes(): number {
    return this.content.length
  }

  goOn(): void {
    this.#goingOn.resolve()
  }

  async write(at: number, data: Buffer): Promise<void> {
    await this.#take()
    data.copy(this.content, at)
  }

  async zero(at: number, length: number): Promise<void> {
    await this.#take()
    this.content.fill(0, at, at + length)
  }

  async #take(): Promise<void> {
    if (this.fails) throw new Error('the target fails as asked')
    if (this.hangs) await this.#goingOn.promise
  }
}
