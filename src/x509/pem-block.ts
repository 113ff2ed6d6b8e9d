/**
 * One piece of PEM between the lines that begin and end it. Text around the pieces has no meaning (RFC 7468,
 * 2).
 */
export interface PemBlock {
  /** The words in the lines that begin and end the piece, such as `CERTIFICATE`. */
  readonly label: string
  /** The piece, including the lines that begin and end it. */
  readonly text: string
}

export type PemOutcome =
  | { readonly ok: true; readonly blocks: readonly PemBlock[] }
  /**
   * The text holds no piece, a piece does not end, or line ends are written as two characters, such as `\n`.
   */
  | { readonly ok: false; readonly flaw: 'no-pem' | 'unfinished' | 'escaped-lines' }

const begin = /^-----BEGIN ([A-Z0-9 ]{1,64})-----$/
const end = /^-----END ([A-Z0-9 ]{1,64})-----$/

/** Takes time in proportion to the length of the text, whatever the text holds. */
export function pemBlocks(text: string): PemOutcome {
  const blocks: PemBlock[] = []
  let open: { readonly label: string; readonly lines: string[] } | undefined
  for (const raw of text.split('\n')) {
    const line = raw.trim()
    const begun = begin.exec(line)?.[1]
    if (begun !== undefined) {
      if (open !== undefined) return { ok: false, flaw: 'unfinished' }
      open = { label: begun, lines: [line] }
      continue
    }
    if (open === undefined) continue
    open.lines.push(line)
    const ended = end.exec(line)?.[1]
    if (ended === undefined) continue
    if (ended !== open.label) return { ok: false, flaw: 'unfinished' }
    blocks.push({ label: ended, text: `${open.lines.join('\n')}\n` })
    open = undefined
  }
  if (open !== undefined) return { ok: false, flaw: 'unfinished' }
  if (blocks.length > 0) return { ok: true, blocks }
  return { ok: false, flaw: /-----BEGIN [A-Z0-9 ]{1,64}-----\\[nr]/.test(text) ? 'escaped-lines' : 'no-pem' }
}
