/**
 * References to images, as people write them and as the registry names them: `hello:latest` is the official
 * image that the registry keeps as `official/hello`; everything else is `<user>/<app>`.
 */
export interface ImageReference {
  /** The registry's name, such as `official/hello` or `ann/app`, in lower case. */
  readonly repository: string
  /** The tag. It is absent if a digest is given. */
  readonly tag?: string
  /** The digest in the form `sha256:<64 hex digits>`, if one is given. */
  readonly digest?: string
}

export const officialNamespace = 'official'
export const defaultTag = 'latest'

/**
 * The longest name of a repository. OCI registries have the same limit; it is also more than anyone types.
 */
const maxRepositoryLength = 255

const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const repositoryPattern = new RegExp(`^${component}(?:/${component})*$`)
const tagPattern = /^\w[\w.-]{0,127}$/
const digestPattern = /^sha256:[0-9a-f]{64}$/

/** The pattern of what `parseImageReference` accepts, apart from the limit on the name's length. */
export const imageReferencePattern =
  `^(?:oci://)?${component}(?:/${component})*` +
  '(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$'

/** Host names that may be written before an image's name. They mean this platform's own registry. */
export const wellKnownRegistryHosts: readonly string[] = ['index.unikraft.io']

/**
 * Reads `[oci://][<host>/]<app>` and `<user>/<app>`, each with `:<tag>` or `@sha256:<hex>` or neither (then
 * the tag is `latest`). If both are given, the digest counts. Returns undefined for anything else, and for a
 * host that is not in `hosts`: images of other registries are not run.
 */
export function parseImageReference(
  text: string,
  hosts: readonly string[] = wellKnownRegistryHosts,
): ImageReference | undefined {
  const named = withoutHost(text.replace(/^oci:\/\//, ''), hosts)
  const [beforeDigest = '', digest, ...more] = named.split('@')
  if (more.length > 0 || (digest !== undefined && !digestPattern.test(digest))) return undefined
  const colon = beforeDigest.indexOf(':')
  const name = colon < 0 ? beforeDigest : beforeDigest.slice(0, colon)
  const tag = colon < 0 ? undefined : beforeDigest.slice(colon + 1)
  if (tag !== undefined && !tagPattern.test(tag)) return undefined
  if (!repositoryPattern.test(name)) return undefined
  const repository = name.includes('/') ? name : `${officialNamespace}/${name}`
  if (repository.length > maxRepositoryLength) return undefined
  return digest === undefined ? { repository, tag: tag ?? defaultTag } : { repository, digest }
}

function withoutHost(text: string, hosts: readonly string[]): string {
  const host = hosts.find((host) => text.startsWith(`${host}/`))
  return host === undefined ? text : text.slice(host.length + 1)
}

/** Whether a text can be the name of a repository as the registry keeps it: `<user>/<app>`, lower case. */
export function isRepositoryName(text: string): boolean {
  return text.length <= maxRepositoryLength && text.includes('/') && repositoryPattern.test(text)
}

/** Whether a text is a digest as the platform uses them, `sha256:<64 lower-case hex digits>`. */
export function isImageDigest(text: string): boolean {
  return digestPattern.test(text)
}

/** Whether a text can be a tag. */
export function isImageTag(text: string): boolean {
  return tagPattern.test(text)
}

/** The first part of a repository's name: the user who owns it, or `official`. */
export function namespaceOf(repository: string): string {
  return repository.slice(0, Math.max(0, repository.indexOf('/')))
}

/** The name of a repository in the API: official images have no namespace there, unless that is ambiguous. */
export function publicImageName(repository: string): string {
  const app = repository.slice(officialNamespace.length + 1)
  return namespaceOf(repository) === officialNamespace && !app.includes('/') ? app : repository
}

/** The registry's own form: `official/hello:latest`, `ann/app@sha256:…`. */
export function formatImageReference(reference: ImageReference): string {
  return `${reference.repository}${suffixOf(reference)}`
}

/** The form in the API's answers: `hello:latest`, `ann/app@sha256:…`. */
export function publicImageReference(reference: ImageReference): string {
  return `${publicImageName(reference.repository)}${suffixOf(reference)}`
}

function suffixOf(reference: ImageReference): string {
  return reference.digest === undefined ? `:${reference.tag ?? defaultTag}` : `@${reference.digest}`
}
