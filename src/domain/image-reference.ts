/**
 * References to images as users write them: `<user>/<app>:<tag>`, `<user>/<app>@sha256:<hex>`, and `<app>:<tag>` for
 * official images. Inside, a repository always has its namespace in front, as the registry knows it.
 */
export const officialNamespace = 'official'
export const defaultTag = 'latest'

/** Prefixes that older clients leave in front; they name this platform's registry whatever its address. */
const knownPrefixes = ['oci://', 'index.unikraft.io/']
/** The registry's own limit of a repository's name. */
const maxRepositoryLength = 255

const pathComponent = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/
const digestPattern = /^sha256:[0-9a-f]{64}$/

export interface ImageReference {
  /** `<namespace>/<app>`, such as `official/hello`; `<app>` may have further parts. */
  readonly repository: string
  readonly tag?: string
  /** `sha256:<hex>`. Where both are given, the digest decides. */
  readonly digest?: string
}

/** What the text refers to, or undefined where it is no reference. Without tag and digest it means `latest`. */
export function parseImageReference(text: string): ImageReference | undefined {
  const [named = '', digest, ...more] = withoutPrefixes(text).split('@')
  if (more.length > 0 || (digest !== undefined && !isDigest(digest))) return undefined
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1)
  const path = colon === -1 ? named : named.slice(0, colon)
  const tag = colon === -1 ? undefined : named.slice(colon + 1)
  if (tag !== undefined && !tagPattern.test(tag)) return undefined
  const repository = path.includes('/') ? path : `${officialNamespace}/${path}`
  if (!isRepository(repository)) return undefined
  if (digest !== undefined) return { repository, ...(tag !== undefined && { tag }), digest }
  return { repository, tag: tag ?? defaultTag }
}

/** The reference in full, as the registry understands it: `parseImageReference` reads it back. */
export function formatImageReference(reference: ImageReference): string {
  const tag = reference.tag === undefined ? '' : `:${reference.tag}`
  const digest = reference.digest === undefined ? '' : `@${reference.digest}`
  return `${reference.repository}${tag}${digest}`
}

/** As the API shows it: official images have no namespace. */
export function displayImageReference(reference: ImageReference): string {
  return displayImageName(formatImageReference(reference))
}

/** The same for a reference or repository that is already formatted; further parts keep the namespace readable. */
export function displayImageName(formatted: string): string {
  const prefix = `${officialNamespace}/`
  const rest = formatted.startsWith(prefix) ? formatted.slice(prefix.length) : formatted
  // `official/utils/tunnel` without its namespace would be read as an image of a user `utils`.
  const path = rest.split(/[:@]/, 1)[0] ?? ''
  return path.includes('/') ? formatted : rest
}

export function imageNamespace(repository: string): string {
  return repository.slice(0, repository.indexOf('/'))
}

/** Whether the user may read the repository: its own and the official ones. */
export function mayReadRepository(userName: string, repository: string): boolean {
  const namespace = imageNamespace(repository)
  return namespace === officialNamespace || namespace === userName
}

export function isDigest(text: string): boolean {
  return digestPattern.test(text)
}

/** The digest of a stored `<repository>@sha256:<hex>`. */
export function digestOf(pinned: string): string {
  return pinned.slice(pinned.indexOf('@') + 1)
}

function isRepository(repository: string): boolean {
  if (repository.length > maxRepositoryLength) return false
  const [namespace = '', ...parts] = repository.split('/')
  // A dot in the first part is a registry's host: other registries are not pulled from.
  if (namespace.includes('.') || parts.length === 0) return false
  return [namespace, ...parts].every((part) => pathComponent.test(part))
}

function withoutPrefixes(text: string): string {
  const prefix = knownPrefixes.find((known) => text.startsWith(known))
  return prefix === undefined ? text : withoutPrefixes(text.slice(prefix.length))
}
