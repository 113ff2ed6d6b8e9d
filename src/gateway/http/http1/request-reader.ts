import { fieldLines, splitFieldLines } from '../field-lines.ts'
import { HttpFailure } from '../http-failure.ts'
import type { HttpLimits } from '../http-limits.ts'
import { readRequestHead } from '../request-head.ts'
import type { RequestHead } from '../request-head.ts'

/** A head that the fast road takes. */
export interface CertainHead {
  readonly head: RequestHead
  /** Whether the client wants to send another request over the connection. */
  readonly keepsAlive: boolean
  /** Where the body begins, or the next request if there is no body. */
  readonly end: number
}

/** `incomplete`: the rest of the head may be certain. `uncertain`: the full road has to read it. */
export type ReadHead = CertainHead | 'incomplete' | 'uncertain'

const endOfHead = Buffer.from('\r\n\r\n')
const certain = new RegExp(
  String.raw`^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (/[\x21\x22\x24-\x7e]*) HTTP/1\.1\r\n${fieldLines}$`,
)
/** The beginning of what may become a certain head: the bytes that can stand in one. */
const beginning = /^[A-Z]{1,7}(?:$| (?:[\t\x20-\x7e\x80-\xff]|\r\n)*\r?$)/

/**
 * Reads the head of a request if it is certainly the same to every reader. It never guesses and never mends:
 * what is not in the strict grammar, or asks for more than an answer, is left to the full road.
 */
export function readCertainHead(bytes: Buffer, limits: HttpLimits): ReadHead {
  const end = bytes.indexOf(endOfHead)
  // Up to three bytes of the end may be there already. A head is not judged by how it was cut.
  if ((end < 0 ? bytes.length - 3 : end) > limits.maxHeaderBytes) return 'uncertain'
  if (end < 0) return beginning.test(bytes.toString('latin1')) ? 'incomplete' : 'uncertain'
  const text = bytes.toString('latin1', 0, end + 2)
  const line = certain.exec(text)
  if (line === null) return 'uncertain'
  const [, method = '', target = ''] = line
  const fields = splitFieldLines(text, method.length + target.length + 12)
  const keepsAlive = readConnection(fields)
  if (keepsAlive === undefined) return 'uncertain'
  try {
    const received = { method, target, fields, authority: undefined, hasBody: undefined, webSocket: false }
    return { head: readRequestHead(received, limits), keepsAlive, end: end + 4 }
  } catch (error) {
    // The full road finds the same, and answers.
    if (error instanceof HttpFailure) return 'uncertain'
    throw error
  }
}

/** Fields that ask for more than an answer, or that not every reader takes for the same. */
const uncertainNames: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'upgrade',
  'expect',
  'proxy-connection',
  'http2-settings',
])
const lengths: ReadonlySet<number> = new Set([...uncertainNames, 'connection'].map(({ length }) => length))

/** Returns whether the connection stays open; undefined if the fields are not certain. */
function readConnection(fields: readonly string[]): boolean | undefined {
  let keepsAlive = true
  let isNamed = false
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? ''
    // Most names are known to be others by their length.
    if (!lengths.has(name.length)) continue
    const lower = name.toLowerCase()
    if (uncertainNames.has(lower)) return undefined
    if (lower !== 'connection') continue
    const value = fields[index + 1]?.toLowerCase()
    if (isNamed || (value !== 'keep-alive' && value !== 'close')) return undefined
    isNamed = true
    keepsAlive = value === 'keep-alive'
  }
  return keepsAlive
}
