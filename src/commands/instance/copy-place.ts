import { usage } from '../session.ts'

/** One side of a copy. `stream`: standard input or output, as a tar archive. */
export type CopyPlace =
  | { readonly kind: 'instance'; readonly instance: string; readonly path: string }
  | { readonly kind: 'local'; readonly path: string }
  | { readonly kind: 'stream' }

/** Reads `instance:path`, a path of this machine, or `-`. What begins with `.` or `/` is of this machine. */
export function copyPlace(text: string): CopyPlace {
  if (text === '') throw usage('a side of a copy is empty: expected a path, <instance>:<path> or -')
  if (text === '-') return { kind: 'stream' }
  const colon = text.indexOf(':')
  if (/^[./]/.test(text) || colon < 0) return { kind: 'local', path: text }
  const instance = text.slice(0, colon)
  const path = text.slice(colon + 1)
  if (instance === '' || path === '')
    throw usage(
      `'${text}' is no side of a copy: expected <instance>:<path>, or ./${text} for a file that is here`,
    )
  return { kind: 'instance', instance, path }
}

/**
 * The name that a copy of this path gets in a directory. Undefined if the path stands for the contents of a
 * directory, because it ends with `/.` or has no name.
 */
export function copyName(path: string): string | undefined {
  const name = path.replace(/\/+$/, '').split('/').at(-1) ?? ''
  return ['', '.', '..'].includes(name) ? undefined : name
}
