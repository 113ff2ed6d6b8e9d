/**
 * Fields that are about one connection only. Those of the instance describe its connection with the
 * gateway; the gateway writes its own for its connection with the client.
 */
const dropped: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'transfer-encoding',
  'te',
  'upgrade',
  'http2-settings',
])

const lengths: ReadonlySet<number> = new Set(
  [...dropped, 'content-length', 'trailer'].map(({ length }) => length),
)

export interface AnswerOptions {
  readonly status: number
  /** HTTP/2 wants its names in lower case. */
  readonly lowerCase: boolean
}

/**
 * Returns the end-to-end fields of an instance's answer. A 204 gets no length, and a Trailer field is kept
 * only with a body without a length.
 */
export function answerFields(raw: readonly string[], { status, lowerCase }: AnswerOptions): string[] {
  const fields: string[] = []
  const named = connectionNames(raw)
  let hasLength = false
  let hasTrailer = false
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? ''
    if (named === undefined && !lengths.has(name.length)) {
      fields.push(lowerCase ? name.toLowerCase() : name, raw[index + 1] ?? '')
      continue
    }
    const lower = name.toLowerCase()
    if (dropped.has(lower) || (named?.has(lower) ?? false)) continue
    if (lower === 'content-length') {
      if (status === 204 || status < 200) continue
      hasLength = true
    } else if (lower === 'trailer') {
      hasTrailer = true
    }
    fields.push(lowerCase ? lower : name, raw[index + 1] ?? '')
  }
  return hasTrailer && hasLength ? withoutTrailer(fields) : fields
}

function withoutTrailer(fields: readonly string[]): string[] {
  return fields.filter((_, index) => fields[index - (index % 2)]?.toLowerCase() !== 'trailer')
}

function connectionNames(raw: readonly string[]): ReadonlySet<string> | undefined {
  let named: Set<string> | undefined
  for (let index = 0; index < raw.length; index += 2) {
    const value = raw[index + 1] ?? ''
    if (raw[index]?.length !== 10 || raw[index]?.toLowerCase() !== 'connection') continue
    if (value === 'keep-alive' || value === 'close') continue
    named ??= new Set()
    for (const part of value.split(',')) named.add(part.trim().toLowerCase())
  }
  return named
}

/**
 * Fields in the form that HTTP/2 takes. The object has no prototype: an instance may call a field
 * `constructor` or `__proto__`.
 */
export function groupedFields(fields: readonly string[]): Record<string, string | string[]> {
  const grouped: Record<string, string | string[]> = Object.create(null)
  for (let index = 0; index < fields.length; index += 2) {
    const name = (fields[index] ?? '').toLowerCase()
    const value = fields[index + 1] ?? ''
    const before = grouped[name]
    if (before === undefined) grouped[name] = value
    else if (typeof before === 'string') grouped[name] = [before, value]
    else before.push(value)
  }
  return grouped
}

/**
 * Makes a flat list of fields as undici and HTTP/2 give them: lower-case names, repeated ones as arrays.
 * Pseudo headers are left out.
 */
export function flatFields(
  parsed: Readonly<Record<string, string | string[] | number | undefined>>,
): string[] {
  const fields: string[] = []
  for (const name of Object.keys(parsed)) {
    const value = parsed[name]
    if (typeof value === 'string') fields.push(name, value)
    else if (Array.isArray(value)) for (const one of value) fields.push(name, one)
  }
  return fields
}
