/** One line of a log, with its number since the first one that was read. */
export interface LogLine {
  readonly number: number
  readonly text: string
}

/** The most lines that a page keeps, and the most characters of one line that it shows. */
export const mostLines = 20_000
const mostCharacters = 2_000

/** Colours and movements of the cursor, which programs write for terminals. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const terminalCodes = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])/g
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const invisible = /[\u0000-\u0008\u000B-\u001F\u007F]/g

/** Turns the bytes of a log, as they come, into lines. The last line may go on with the next bytes. */
export class LogLines {
  readonly #decoder = new TextDecoder()
  #lines: LogLine[] = []
  #open = ''
  #number = 0

  add(bytes: Uint8Array): void {
    const parts = (this.#open + this.#decoder.decode(bytes, { stream: true })).split('\n')
    this.#open = (parts.pop() ?? '').slice(-mostCharacters * 2)
    for (const text of parts) this.#lines.push({ number: ++this.#number, text: shownText(text) })
    if (this.#lines.length > mostLines) this.#lines = this.#lines.slice(-mostLines)
  }

  /** The lines so far, with the unfinished one. */
  all(): readonly LogLine[] {
    return this.#open === ''
      ? [...this.#lines]
      : [...this.#lines, { number: this.#number + 1, text: shownText(this.#open) }]
  }
}

function shownText(line: string): string {
  const text = line.replace(/\r$/, '')
  const last = text.slice(text.lastIndexOf('\r') + 1)
  return last
    .replaceAll(terminalCodes, '')
    .replaceAll(invisible, '')
    .replaceAll('\t', '    ')
    .slice(0, mostCharacters)
}
