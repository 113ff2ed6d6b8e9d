import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'

/** The value of a file that says that there is no term. It has as many characters as a deadline. */
const noTerm = '-'.repeat(16)

/**
 * The file by which the agent tells the keepers of its VMs how long the host's term lasts. Each keeper holds
 * it open (`guest/keeper/term.c`), so it is written in place and never replaced:
 *
 *   <deadline> <deadline> <boot id>\n
 *
 * A deadline is 16 digits, in milliseconds of CLOCK_BOOTTIME, or 16 dashes if there is no term. It is there
 * twice, so that a keeper which reads while the file is being written notices it. The id of the machine's
 * boot says to which boot the deadline belongs. The file need not survive a crash, because no VM does.
 */
export class TermFile {
  readonly #handle: FileHandle
  readonly #bootId: string

  private constructor(handle: FileHandle, bootId: string) {
    this.#handle = handle
    this.#bootId = bootId
  }

  /** Opens the file, and makes it if it is missing. It is written before any keeper opens it. */
  static async open(path: string, bootId: string): Promise<TermFile> {
    return new TermFile(await open(path, constants.O_RDWR | constants.O_CREAT, 0o600), bootId)
  }

  /**
   * The deadline of this boot of the machine. Undefined if the file has none, or only one of another boot.
   */
  async read(): Promise<{ readonly deadlineMs: number | undefined } | undefined> {
    const { buffer, bytesRead } = await this.#handle.read(Buffer.alloc(128), 0, 128, 0)
    const text = buffer.toString('latin1', 0, bytesRead)
    const [first = '', second, bootId] = text.split(/[ \n]/)
    if (first !== second || bootId !== this.#bootId) return undefined
    if (first === noTerm) return { deadlineMs: undefined }
    return /^\d{16}$/.test(first) ? { deadlineMs: Number(first) } : undefined
  }

  /** Writes a deadline; undefined: there is no term. */
  async write(deadlineMs: number | undefined): Promise<void> {
    const value = deadlineMs === undefined ? noTerm : String(Math.floor(deadlineMs)).padStart(16, '0')
    const line = Buffer.from(`${value} ${value} ${this.#bootId}\n`)
    const { bytesWritten } = await this.#handle.write(line, 0, line.length, 0)
    if (bytesWritten !== line.length) throw new Error('the file of the term could not be written as a whole')
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }
}
