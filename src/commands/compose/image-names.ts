interface ImagePath {
  /** Without a host, and without the `library/` of Docker's own images. */
  readonly name: string
  /** `:<tag>` or `@<digest>`. */
  readonly suffix: string
}

const maxLength = 512

/** The path of an image as Compose files name it, such as `ghcr.io/acme/app:1`; undefined if it is none. */
export function imagePath(text: string): ImagePath | undefined {
  if (text.length > maxLength) return undefined
  const [, path = '', tag, digest] =
    /^([a-z0-9][\w.:/-]*?)(?::(\w[\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/.exec(text) ?? []
  const parts = path.split('/')
  const isHost = parts.length > 1 && /[.:]|^localhost$/.test(parts[0]!)
  const name = (isHost ? parts.slice(1) : parts).join('/').replace(/^library\//, '')
  if (!/^[a-z0-9]+(?:[._/-]+[a-z0-9]+)*$/.test(name)) return undefined
  return { name, suffix: digest === undefined ? `:${tag ?? 'latest'}` : `@${digest}` }
}

/**
 * The names under which an image is looked for in the registry of the platform: below the user's own name,
 * and as it is written. The host of another registry means nothing here.
 */
export function imageNames(text: string, user: string): readonly string[] {
  const path = imagePath(text)
  if (path === undefined) return []
  const { name, suffix } = path
  return [...new Set([`${user}/${name}${suffix}`, `${name}${suffix}`])]
}
