import { ExecSession } from '../exec/exec-session.ts'
import type { ExecEnd, TerminalSize } from '../exec/exec-session.ts'

const hangUp = 1

/** What all sessions in the guests of fake VMs share: the window of their output, and their end. */
export abstract class FakeSession extends ExecSession {
  protected size: TerminalSize | undefined
  #left = this.windowBytes
  /** Output that has to wait until some was taken. */
  #waiting: Buffer[] = []
  #atEnd: (() => void) | undefined
  #over = false

  abstract begin(): void

  override write(bytes: Buffer): void {
    setImmediate(() => this.emit('inputTaken', bytes.length))
  }

  override endInput(): void {
    // Most of what runs here ends without it.
  }

  override outputTaken(bytes: number): void {
    this.#left += bytes
    const waiting = this.#waiting.splice(0)
    for (const each of waiting) this.put('stdout', each)
    if (this.#waiting.length === 0) this.#atEnd?.()
  }

  override resize(size: TerminalSize): void {
    this.size = size
  }

  override signal(number: number): void {
    this.finish({ kind: 'signal', signal: number })
  }

  override close(): void {
    setImmediate(() => this.finish({ kind: 'signal', signal: hangUp }))
  }

  finish(end: ExecEnd): void {
    if (this.#over) return
    this.#over = true
    this.emit('end', end)
  }

  /** How many bytes of output there is room for. */
  protected get room(): number {
    return this.#over ? 0 : this.#left
  }

  protected put(stream: 'stdout' | 'stderr', bytes: Buffer): void {
    if (this.#over || bytes.length === 0) return
    const now = bytes.subarray(0, this.#left)
    const later = bytes.subarray(now.length)
    this.#left -= now.length
    if (later.length > 0) this.#waiting.push(later)
    if (now.length > 0) this.emit('output', stream, now)
  }

  protected endAfterOutput(end: ExecEnd): void {
    this.afterOutput(() => this.finish(end))
  }

  protected afterOutput(what: () => void): void {
    if (this.#waiting.length > 0) this.#atEnd = what
    else setImmediate(what)
  }
}
