import type { Findings } from './findings.ts'
import type { Located, LocatedEntry, LocatedScalar } from './located-yaml.ts'

export type Variables = Readonly<Record<string, string | undefined>>

export type Interpolated =
  | { readonly ok: true; readonly text: string; readonly unset: readonly string[] }
  | { readonly ok: false; readonly reason: string }

/** The deepest nesting of defaults, as in `${A:-${B:-c}}`. */
const maxNesting = 10
/** The longest text that variables may make of one value. A variable of the API may be 64 KiB long. */
const maxTextLength = 262_144

/**
 * Puts variables into a text, by the rules of the Compose specification: `$NAME`, `${NAME}`,
 * `${NAME:-default}`, `${NAME-default}`, `${NAME:?message}`, `${NAME?message}`, `${NAME:+other}`,
 * `${NAME+other}`, and `$$` for `$`.
 */
export function interpolate(text: string, variables: Variables, nesting = 0): Interpolated {
  if (nesting > maxNesting) return refused(`defaults are nested deeper than ${maxNesting} levels`)
  const unset: string[] = []
  let result = ''
  for (let at = 0; at < text.length;) {
    if (text.charAt(at) !== '$') {
      const next = text.indexOf('$', at)
      const end = next < 0 ? text.length : next
      result += text.slice(at, end)
      at = end
      continue
    }
    const found = expressionAt(text, at)
    if (typeof found === 'string') return refused(found)
    at = found.end
    const value = valueOf(found, variables, nesting)
    if (!value.ok) return value
    result += value.text
    unset.push(...value.unset)
    if (result.length > maxTextLength) return refused(`it is longer than ${maxTextLength} characters`)
  }
  return { ok: true, text: result, unset }
}

interface Expression {
  /** Empty for `$$`. */
  readonly name: string
  readonly operator?: string
  readonly operand?: string
  readonly end: number
}

/** The expression that begins with the `$` at a place, or what is wrong with it. */
function expressionAt(text: string, at: number): Expression | string {
  if (text.charAt(at + 1) === '$') return { name: '', end: at + 2 }
  const bare = /^[A-Za-z_]\w*/.exec(text.slice(at + 1))?.[0]
  if (bare !== undefined) return { name: bare, end: at + 1 + bare.length }
  if (text.charAt(at + 1) !== '{') return "a '$' that is meant as such is written '$$'"
  const end = closingBrace(text, at + 2)
  if (end < 0) return "a '${' has no '}'"
  const [, name, operator, operand = ''] =
    /^([A-Za-z_]\w*)(?:(:?[-?+])([^]*))?$/.exec(text.slice(at + 2, end)) ?? []
  if (name === undefined) return "expected '${NAME}', or a name with ':-', '-', ':?', '?', ':+' or '+'"
  return { name, end: end + 1, ...(operator !== undefined && { operator, operand }) }
}

function closingBrace(text: string, from: number): number {
  let open = 1
  for (let at = from; at < text.length; at++) {
    if (text.startsWith('${', at)) open += 1
    else if (text.charAt(at) === '}') open -= 1
    if (open === 0) return at
  }
  return -1
}

function valueOf(expression: Expression, variables: Variables, nesting: number): Interpolated {
  const { name, operator, operand = '' } = expression
  if (name === '') return { ok: true, text: '$', unset: [] }
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined
  const isGiven =
    operator?.startsWith(':') === true ? value !== undefined && value !== '' : value !== undefined
  if (operator === undefined) {
    return value === undefined ? { ok: true, text: '', unset: [name] } : given(value)
  }
  if (operator.endsWith('+')) return isGiven ? interpolate(operand, variables, nesting + 1) : given('')
  if (isGiven) return given(value)
  return operator.endsWith('-')
    ? interpolate(operand, variables, nesting + 1)
    : refused(`the variable ${name} is needed${operand && `: ${operand}`}`)
}

function given(text: string | undefined): Interpolated {
  return { ok: true, text: text ?? '', unset: [] }
}

function refused(reason: string): Interpolated {
  return { ok: false, reason }
}

/** Puts variables into all values of a file. Keys stay as they are. */
export function interpolateAll(value: Located, variables: Variables, findings: Findings): Located {
  if (value.kind === 'scalar') return interpolatedScalar(value, variables, findings)
  if (value.kind === 'list') {
    return { ...value, items: value.items.map((item) => interpolateAll(item, variables, findings)) }
  }
  const entries = [...value.entries].map(([key, entry]): readonly [string, LocatedEntry] => [
    key,
    { ...entry, value: interpolateAll(entry.value, variables, findings) },
  ])
  return { ...value, entries: new Map(entries) }
}

function interpolatedScalar(scalar: LocatedScalar, variables: Variables, findings: Findings): LocatedScalar {
  if (scalar.text === null || !scalar.text.includes('$')) return scalar
  const outcome = interpolate(scalar.text, variables)
  if (!outcome.ok) {
    findings.refuse(scalar, outcome.reason)
    return scalar
  }
  for (const name of outcome.unset) {
    findings.note(scalar, `the variable ${name} is not set, so it is empty`)
  }
  return { ...scalar, text: outcome.text }
}
