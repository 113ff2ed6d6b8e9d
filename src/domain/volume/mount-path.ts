/** The longest path in Linux, without the final NUL. */
export const maxMountPathBytes = 4_095
/** The longest name in an ext4 directory. */
export const maxComponentBytes = 255

export type MountPathOutcome =
  | { readonly ok: true; readonly at: string }
  /** `must` says what the path must be or have: it completes a sentence that ends with "must". */
  | { readonly ok: false; readonly must: string }

/**
 * Reads the path in an instance where a volume is mounted. It has to be absolute, without `.`, `..`, colon,
 * NUL or control bytes, and not one that the platform uses. Superfluous slashes are removed.
 */
export function parseMountPath(text: string): MountPathOutcome {
  const refuse = (must: string): MountPathOutcome => ({ ok: false, must })
  if (!text.startsWith('/')) return refuse('be absolute: begin with a slash')
  if (text.includes(':')) return refuse('have no colon')
  if (/\p{Cc}/u.test(text)) return refuse('have no control characters')
  if (!text.isWellFormed()) return refuse('be valid Unicode')
  const components = text.split('/').filter((component) => component !== '')
  if (components.some((component) => component === '.' || component === '..'))
    return refuse("have no component '.' or '..'")
  if (components.length === 0) return refuse("be a directory below '/'")
  const long = components.some((component) => Buffer.byteLength(component) > maxComponentBytes)
  if (long) return refuse(`have components of at most ${maxComponentBytes} bytes`)
  const at = `/${components.join('/')}`
  if (Buffer.byteLength(at) > maxMountPathBytes) return refuse(`have at most ${maxMountPathBytes} bytes`)
  const reserved = reservedPaths.find((path) => at === path || at.startsWith(`${path}/`))
  if (reserved !== undefined) return refuse(`not lie in '${reserved}', which is the platform's`)
  return { ok: true, at }
}

const character = '[^/:\\u0000-\\u001f\\u007f-\\u009f]'
const notDot = character.replace('[^', '[^.')
const component = `(?:${notDot}${character}*|\\.${notDot}${character}*|\\.\\.${character}+)`

/** The pattern of what `parseMountPath` accepts, apart from the lengths and the reserved paths. */
export const mountPathPattern = `^/+${component}(?:/+${component})*/*$`

/**
 * The kernel's own file systems, and the directory of the file by which an instance speaks against standby.
 */
export const reservedPaths: readonly string[] = ['/proc', '/sys', '/dev', '/uk']
