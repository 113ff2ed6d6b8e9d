import {
  namespaceOf,
  officialNamespace,
  parseImageReference,
  publicImageReference,
} from '../domain/image/reference.ts'
import { createImageFactsCache } from './image-facts.ts'
import type { ImageFacts, ImageFactsCache } from './image-facts.ts'
import { MalformedImageError } from './oci-manifest.ts'
import type { RegistryClient } from './registry-client.ts'

export type ResolvedImage =
  | {
      readonly kind: 'found'
      /** The image as the host needs it: `official/hello@sha256:…`. */
      readonly reference: string
      /** The image as the API shows it: `hello@sha256:…`. */
      readonly publicReference: string
      readonly facts: ImageFacts
    }
  /** The image does not exist, or belongs to another user. The caller can not tell the two cases apart. */
  | { readonly kind: 'unknown' }
  /** The image exists but can not run. `reason` is a sentence for the user. */
  | { readonly kind: 'unusable'; readonly reason: string }

export interface ImageResolver {
  /**
   * Finds the digest to which a reference points now. Throws RegistryError if the registry does not answer.
   */
  resolve(userName: string, reference: string, signal?: AbortSignal): Promise<ResolvedImage>
}

export function createImageResolver(
  client: RegistryClient,
  facts: ImageFactsCache = createImageFactsCache(client),
): ImageResolver {
  return {
    async resolve(userName, text, signal) {
      const reference = parseImageReference(text)
      if (!reference || !mayRead(userName, reference.repository)) return { kind: 'unknown' }
      const { repository } = reference
      const digest = await client.digestOf(repository, reference.digest ?? reference.tag ?? '', signal)
      if (digest === undefined) return { kind: 'unknown' }
      try {
        return {
          kind: 'found',
          reference: `${repository}@${digest}`,
          publicReference: publicImageReference({ repository, digest }),
          facts: await facts.of(repository, digest, signal),
        }
      } catch (error) {
        if (error instanceof MalformedImageError) return { kind: 'unusable', reason: error.message }
        throw error
      }
    },
  }
}

/** Official images are for everybody; all others belong to the user after whom they are named. */
export function mayRead(userName: string, repository: string): boolean {
  const namespace = namespaceOf(repository)
  return namespace === officialNamespace || (namespace === userName && userName !== '')
}
