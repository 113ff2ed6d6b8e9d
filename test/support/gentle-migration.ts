/**
 * What a statement of a migration would break for the version before, which goes on meanwhile: it reads and
 * writes what it knows. Undefined if that goes on to work.
 */
export function harmOf(statement: string): string | undefined {
  const text = statement.replaceAll(/\s+/g, ' ').toLowerCase()
  return harms.find(({ pattern }) => pattern.test(text))?.why
}

const harms: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  {
    pattern: /\bdrop (column|table|view|function|type)\b/,
    why: 'it takes away what the version before may use',
  },
  {
    pattern: /\brename (column|constraint|to)\b|\brename \S+ to\b/,
    why: 'the version before knows the old name',
  },
  { pattern: /\bset not null\b/, why: 'the version before may write nothing there' },
  {
    pattern:
      /\badd (column )?(if not exists )?("\w+"|(?!constraint\b|primary\b|unique\b|foreign\b|check\b)\w+) (?=[^,]*\bnot null\b)(?![^,]*\bdefault\b)/,
    why: 'the version before writes rows without the new column, which has no default',
  },
  { pattern: /\balter column \S+ type\b|\balter \S+ type\b/, why: 'the version before reads the old type' },
  {
    pattern: /\badd constraint\b|\badd (check|unique|foreign key|primary key)\b/,
    why: 'the version before may write what the constraint forbids',
  },
  { pattern: /\bcreate unique index\b/, why: 'the version before may write what the index forbids' },
]
