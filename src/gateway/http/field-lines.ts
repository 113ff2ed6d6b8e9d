/** A name of RFC 9110, and what may stand in a value. They are sources of regular expressions. */
export const token = String.raw`[!#$%&'*+.^_\x60|~0-9A-Za-z-]+`
export const fieldText = String.raw`[\t\x20-\x7e\x80-\xff]*`

/**
 * The lines of fields of a head, in the strict grammar of RFC 9112: a name, a colon, a value without control
 * bytes, CR LF. A line can not be folded, and no space stands before the colon. It is the source of a
 * regular expression.
 */
export const fieldLines = String.raw`(?:${token}:${fieldText}\r\n)*`

const fieldName = new RegExp(`^${token}$`)
const fieldValue = new RegExp(`^${fieldText}$`)

/** Whether a line of this name and value would match `fieldLines`. */
export function isField(name: string, value: string): boolean {
  return fieldName.test(name) && fieldValue.test(value)
}

/**
 * Splits lines that match `fieldLines` into a flat list: name, value, name, value. Space and tab around a
 * value are not part of it.
 */
export function splitFieldLines(text: string, from: number): string[] {
  const fields: string[] = []
  for (let at = from; at < text.length;) {
    const colon = text.indexOf(':', at)
    const end = text.indexOf('\r\n', colon)
    fields.push(text.slice(at, colon), trimmed(text, colon + 1, end))
    at = end + 2
  }
  return fields
}

function trimmed(text: string, from: number, to: number): string {
  let first = from
  let last = to
  while (first < last && isBlank(text.charCodeAt(first))) first += 1
  while (last > first && isBlank(text.charCodeAt(last - 1))) last -= 1
  return text.slice(first, last)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/** Writes fields as the lines of a head. */
export function joinFieldLines(fields: readonly string[]): string {
  let text = ''
  for (let index = 0; index < fields.length; index += 2) text += `${fields[index]}: ${fields[index + 1]}\r\n`
  return text
}
