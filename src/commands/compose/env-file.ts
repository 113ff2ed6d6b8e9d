import type { Findings } from './findings.ts'
import { interpolate } from './interpolation.ts'
import type { Variables } from './interpolation.ts'

const maxVariables = 1_000

/**
 * Reads a file of variables as Compose does. A value in single quotes is taken as it is; variables are put
 * into all others. ` #` begins a comment behind a value without quotes. A name without `=` takes the value
 * that the variable has in `variables`, and is left out if it has none. Messages never show a value.
 */
export function readEnvFile(
  text: string,
  {
    file,
    variables,
    findings,
  }: { readonly file: string; readonly variables: Variables; readonly findings: Findings },
): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  for (let index = 0; index < lines.length; index++) {
    const place = { file, line: index + 1 }
    const line = (lines[index] ?? '').trimStart().replace(/^export\s+/, '')
    if (line.trim() === '' || line.startsWith('#')) continue
    const [, name, rest] = /^([A-Za-z_][\w.-]*)\s*(?:=\s?([^]*))?$/.exec(line.trimEnd()) ?? []
    if (name === undefined) {
      findings.refuse(place, 'expected NAME=value')
      continue
    }
    if (Object.keys(found).length >= maxVariables) {
      findings.refuse(place, `there are more than ${maxVariables} variables`)
      break
    }
    if (rest === undefined) {
      const value = variables[name]
      if (value !== undefined) found[name] = value
      continue
    }
    const quote = /^\s*(["'])/.exec(rest)?.[1]
    const value =
      quote === undefined ? undefined : quotedValue(lines, { index, quote, rest: rest.trimStart() })
    if (quote !== undefined && value === undefined) {
      findings.refuse(place, `a value that begins with ${quote} has no ${quote} at its end`)
      break
    }
    index = value?.lastIndex ?? index
    const written = value?.text ?? plainValue(rest)
    const outcome = quote === "'" ? undefined : interpolate(written, { ...variables, ...found })
    if (outcome?.ok === false) findings.refuse(place, outcome.reason)
    found[name] = outcome?.ok === true ? outcome.text : written
  }
  return found
}

/** The value between quotes, which may go on over several lines; undefined if its end is missing. */
function quotedValue(
  lines: readonly string[],
  { index, quote, rest }: { readonly index: number; readonly quote: string; readonly rest: string },
): { readonly text: string; readonly lastIndex: number } | undefined {
  let text = rest.slice(1)
  for (let last = index; last < lines.length; last++) {
    if (last > index) text += `\n${lines[last] ?? ''}`
    const end = endOf(text, quote)
    if (end >= 0) {
      const inner = text.slice(0, end)
      return { text: quote === '"' ? unescaped(inner) : inner, lastIndex: last }
    }
  }
  return undefined
}

function endOf(text: string, quote: string): number {
  for (let at = 0; at < text.length; at++) {
    if (quote === '"' && text.charAt(at) === '\\') at += 1
    else if (text.charAt(at) === quote) return at
  }
  return -1
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

function unescaped(text: string): string {
  // `\$` becomes the `$$` that stands for one `$`.
  return text.replaceAll(/\\([^])/g, (_, char: string) => escapes[char] ?? (char === '$' ? '$$' : char))
}

function plainValue(text: string): string {
  return text.replace(/(?:^|\s)#[^]*$/, '').trim()
}
