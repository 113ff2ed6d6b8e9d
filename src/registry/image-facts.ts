import { joinArguments } from '../domain/instance/argument-line.ts'
import { kernelArgsLabel } from '../domain/image/labels.ts'
import { MalformedImageError } from './oci-manifest.ts'
import type { RegistryClient, RegistryImage } from './registry-client.ts'

/**
 * What the platform reports about an image without unpacking it. It follows from the digest, so it never
 * changes.
 */
export interface ImageFacts {
  readonly sizeBytes: number
  readonly hasInitrd: boolean
  /** Entrypoint and command as one line. It is absent if the image has neither. */
  readonly args?: string
  /** Whether some of the words in `args` come from the image's entrypoint. */
  readonly hasEntrypoint: boolean
  readonly kernelArgs?: string
  readonly labels: Readonly<Record<string, string>>
}

export interface ImageFactsCache {
  /** Throws RegistryError, or MalformedImageError if the content is not an image that could run. */
  of(repository: string, digest: string, signal?: AbortSignal): Promise<ImageFacts>
}

/**
 * The most images whose facts are cached: as many as a busy installation has. Beyond that number, the image
 * that was cached first is dropped. It is read again when somebody asks for it.
 */
const maxCached = 2_000
/**
 * The most characters of an image's labels, names and values together. Labels are kept in memory and are
 * part of answers, so they are bounded.
 */
const maxLabelBytes = 65_536

export function createImageFactsCache(client: RegistryClient): ImageFactsCache {
  const cached = new Map<string, ImageFacts>()
  return {
    async of(repository, digest, signal) {
      const known = cached.get(digest)
      if (known) return known
      const facts = factsOf(await client.image(repository, digest, signal))
      if (cached.size >= maxCached) cached.delete(cached.keys().next().value ?? '')
      cached.set(digest, facts)
      return facts
    },
  }
}

/** The annotation with which image builders mark the layer that holds the initial file system. */
const initrdAnnotation = 'org.unikraft.kernel.initrd'
const initrdMediaType = 'application/vnd.unikraft.initrd.v1'

export function factsOf({ manifest, config }: RegistryImage): ImageFacts {
  const { labels } = config
  const labelBytes = Object.entries(labels).reduce((total, entry) => total + entry.join('').length, 0)
  if (labelBytes > maxLabelBytes) {
    throw new MalformedImageError(`the labels of the image have over ${maxLabelBytes} characters`)
  }
  const args = joinArguments([...config.entrypoint, ...config.command])
  const kernelArgs = labels[kernelArgsLabel]
  const hasInitrd = manifest.layers.some(
    (layer) =>
      layer.annotations[initrdAnnotation] !== undefined || layer.mediaType.startsWith(initrdMediaType),
  )
  return {
    sizeBytes: manifest.layers.reduce((total, layer) => total + layer.size, 0),
    hasInitrd: hasInitrd || labels[initrdAnnotation] !== undefined,
    ...(args === '' ? {} : { args }),
    hasEntrypoint: config.entrypoint.length > 0,
    ...(kernelArgs === undefined ? {} : { kernelArgs }),
    labels,
  }
}
