import { whyAbsent } from '../absent-features.ts'
import { problem } from '../errors.ts'
import type { Problem } from '../errors.ts'

/** A parameter that an operation does not have. */
interface Unknown {
  /** Its last part, by which the reason is found. */
  readonly key: string
  /** What the message calls it. */
  readonly name: string
  readonly place: string
}

/** The problem of an unknown parameter, with the reason if it is one that clients know from elsewhere. */
export function unknownParameter({ key, name, place }: Unknown): Problem {
  const reason = whyAbsent(key)
  return reason === undefined
    ? problem('unknownParameter', { name, place })
    : problem('absentParameter', { name, place, reason })
}
