import {
  officialNamespace,
  isImageDigest,
  namespaceOf,
  parseImageReference,
} from '../domain/image/reference.ts'
import { publicImageReference } from '../domain/image/reference.ts'
import type { ImageReference } from '../domain/image/reference.ts'
import { createImageFactsCache } from './image-facts.ts'
import type { ImageFacts, ImageFactsCache } from './image-facts.ts'
import { mayRead } from './image-resolver.ts'
import { MalformedImageError } from './oci-manifest.ts'
import type { RegistryClient } from './registry-client.ts'
import { RegistryError, RegistryFailure } from './registry-error.ts'

/**
 * The filter of a listing. An image has to match all given fields. If there are several lookups, it has to
 * match one of them.
 */
export interface ImageQuery {
  readonly userName: string
  /**
   * The user's own name, `official`, or either with `/<app>`. If it is absent, the list has everything that
   * the user may read.
   */
  readonly namespace?: string
  readonly tagged?: boolean
  readonly lookups?: readonly ImageLookup[]
}

export interface ImageLookup {
  /** An image by its digest: `hello@sha256:…`, or the digest alone. */
  readonly digest?: string
  /** An image by its tag: `hello:latest`. */
  readonly tag?: string
}

export interface ListedImage extends ImageFacts {
  /** The image's name and digest: `hello@sha256:…`. */
  readonly digest: string
  /**
   * The tags of the image, sorted, such as `hello:latest`. The list is empty if no tag points to the image
   * any more.
   */
  readonly tags: readonly string[]
}

export interface ImageListing {
  /**
   * Lists what the registry holds now. Tags are asked for each time, so a push that has returned is seen.
   * The list is sorted by `digest`, which no push changes. So a caller who reads the list in parts can go on
   * after an image, even if that image was deleted, or lost its tag, meanwhile. Content that could not run
   * (for other platforms, not an image) is left out, and so is what is damaged on the registry's disk.
   * Throws RegistryError if the registry does not answer.
   */
  list(query: ImageQuery, signal?: AbortSignal): Promise<readonly ListedImage[]>
}

/**
 * The most tags that one answer looks at. Further tags are cut; a query with the namespace `<user>/<app>`
 * finds them.
 */
export const maxListedTags = 2_000
/** The most requests to the registry that one answer makes at the same time. */
const concurrency = 12
/**
 * How many damaged images are remembered as reported. Each damaged image beyond that number is reported each
 * time.
 */
const maxToldDamages = 1_000
/** The status with which the registry answers if what it has stored does not match its digest. */
const internalErrorStatus = 500

interface Found {
  readonly repository: string
  readonly digest: string
  readonly tags: string[]
}

export interface ImageListingDeps {
  readonly client: RegistryClient
  readonly facts?: ImageFactsCache
  /**
   * References of images that are in use, as the host knows them (`ann/app@sha256:…`). The registry can not
   * list images that have lost their tag, so without this only tagged images and those looked up by digest
   * are found.
   */
  readonly inUse?: (userName: string) => Promise<readonly string[]>
  /** Called once for each image that is left out because the registry can not give it. */
  readonly onDamaged?: (image: string, error: RegistryError) => void
}

export function createImageListing(deps: ImageListingDeps): ImageListing {
  const { client } = deps
  const facts = deps.facts ?? createImageFactsCache(client)
  const unlessDamaged = leaveOutDamaged(deps.onDamaged)

  async function tagged(repositories: readonly string[], signal?: AbortSignal): Promise<readonly Found[]> {
    const tags = await inParallel(repositories, async (repository) => {
      const names = await client.tags(repository, signal)
      return names.map((tag) => ({ repository, tag }))
    })
    const found = new Map<string, Found>()
    await inParallel(tags.flat().slice(0, maxListedTags), async ({ repository, tag }) => {
      const read = () => client.digestOf(repository, tag, signal)
      const digest = await unlessDamaged(`${repository}:${tag}`, read)
      // The tag was deleted meanwhile, or its image is damaged.
      if (digest === undefined) return
      const key = `${repository}@${digest}`
      const image = found.get(key) ?? { repository, digest, tags: [] }
      image.tags.push(tag)
      found.set(key, image)
    })
    return [...found.values()]
  }

  /** Finds images that may have no tag: those looked up by digest, and those in use. */
  async function untagged(query: ImageQuery, repositories: readonly string[], signal?: AbortSignal) {
    const lookedUp = (query.lookups ?? []).flatMap(({ digest }) => {
      if (digest === undefined) return []
      if (isImageDigest(digest)) return repositories.map((repository) => ({ repository, digest }))
      const reference = parseImageReference(digest)
      return reference ? [reference] : []
    })
    const inUse = (await deps.inUse?.(query.userName)) ?? []
    const candidates = [...lookedUp, ...inUse.flatMap((text) => parseImageReference(text) ?? [])].filter(
      ({ repository, digest }) => digest !== undefined && repositories.includes(repository),
    )
    const present = await inParallel(
      candidates.slice(0, maxListedTags),
      async ({ repository, digest = '' }) => {
        const read = () => client.digestOf(repository, digest, signal)
        const there = await unlessDamaged(`${repository}@${digest}`, read)
        return there === undefined ? [] : [{ repository, digest, tags: [] }]
      },
    )
    return present.flat()
  }

  return {
    async list(query, signal) {
      const repositories = await repositoriesFor(client, query, signal)
      const found = new Map<string, Found>()
      const others = query.tagged === true ? [] : await untagged(query, repositories, signal)
      for (const image of [...others, ...(await tagged(repositories, signal))]) {
        found.set(`${image.repository}@${image.digest}`, image)
      }
      const matching = [...found.values()].filter((image) => matches(query, image))
      const listed = await inParallel(matching, async (image) => {
        const read = () => describe(facts, image, signal)
        return (await unlessDamaged(`${image.repository}@${image.digest}`, read)) ?? []
      })
      return listed.flat().sort((a, b) => compare(a.digest, b.digest))
    },
  }
}

async function repositoriesFor(
  client: RegistryClient,
  query: ImageQuery,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const named = (query.lookups ?? []).map((lookup) => lookedUpRepositories(lookup))
  if (named.length > 0 && named.every((names) => names !== undefined)) {
    return [...new Set(named.flat())].filter(
      (name) => mayRead(query.userName, name) && inNamespace(query, name),
    )
  }
  const { namespace } = query
  if (namespace?.includes('/') === true) return mayRead(query.userName, namespace) ? [namespace] : []
  const namespaces = [query.userName, officialNamespace].filter(
    (name) => namespace === undefined || namespace === name,
  )
  const lists = await Promise.all(namespaces.map((name) => client.repositories(name, signal)))
  return lists.flat()
}

/** The repositories that a lookup names, or undefined if it names none. */
function lookedUpRepositories(lookup: ImageLookup): readonly string[] | undefined {
  const texts = [lookup.digest, lookup.tag].filter((text) => text !== undefined && !isImageDigest(text))
  if (texts.length === 0) return undefined
  return texts.flatMap((text) => parseImageReference(text ?? '')?.repository ?? [])
}

function inNamespace({ namespace }: ImageQuery, repository: string): boolean {
  return namespace === undefined || namespace === repository || namespace === namespaceOf(repository)
}

function matches({ lookups = [] }: ImageQuery, image: Found): boolean {
  return lookups.length === 0 || lookups.some((lookup) => matchesLookup(lookup, image))
}

function matchesLookup(lookup: ImageLookup, image: Found): boolean {
  const { digest, tag } = lookup
  if (digest !== undefined && digest !== image.digest) {
    const reference = parseImageReference(digest)
    if (reference?.digest !== image.digest || reference.repository !== image.repository) return false
  }
  if (tag === undefined) return true
  const reference: ImageReference | undefined = parseImageReference(tag)
  if (reference?.repository !== image.repository) return false
  return reference.tag === undefined ? reference.digest === image.digest : image.tags.includes(reference.tag)
}

async function describe(
  facts: ImageFactsCache,
  image: Found,
  signal: AbortSignal | undefined,
): Promise<readonly ListedImage[]> {
  const { repository, digest, tags } = image
  try {
    const known = await facts.of(repository, digest, signal)
    const names = tags.map((tag) => publicImageReference({ repository, tag })).sort(compare)
    return [{ ...known, digest: publicImageReference({ repository, digest }), tags: names }]
  } catch (error) {
    if (error instanceof MalformedImageError) return []
    // The image was deleted meanwhile: the rest of the list is still true.
    if (error instanceof RegistryError && error.failure === RegistryFailure.NotFound) return []
    throw error
  }
}

type UnlessDamaged = <T>(image: string, read: () => Promise<T>) => Promise<T | undefined>

/**
 * Calls `read`. Returns undefined if the registry's copy is broken, because one damaged image must not make
 * the whole list fail.
 */
function leaveOutDamaged(onDamaged: ImageListingDeps['onDamaged']): UnlessDamaged {
  const told = new Set<string>()
  return async (image, read) => {
    try {
      return await read()
    } catch (error) {
      if (!isDamaged(error)) throw error
      if (!told.has(image)) onDamaged?.(image, error)
      if (told.size < maxToldDamages) told.add(image)
      return undefined
    }
  }
}

/**
 * The damage was noticed by this code or by the registry. A registry that is overloaded or down fails in
 * another way.
 */
function isDamaged(error: unknown): error is RegistryError {
  if (!(error instanceof RegistryError)) return false
  return error.failure === RegistryFailure.Corrupt || error.status === internalErrorStatus
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const rest = items.entries()
  async function worker(): Promise<void> {
    for (const [index, item] of rest) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
  return results
}
