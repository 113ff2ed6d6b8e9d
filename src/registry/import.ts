import { parseImageReference, wellKnownRegistryHosts } from '../domain/image/reference.ts'
import { ImageArchiveError, openImageArchive } from './image-archive.ts'
import type { ArchivedImage } from './image-archive.ts'
import { createRegistryHttp } from './registry-http.ts'
import { createRegistryUpload } from './registry-upload.ts'
import type { RegistryUpload } from './registry-upload.ts'
import { userTokens } from './user-tokens.ts'

export interface ImportImageInput {
  /** The image on disk: an OCI layout as directory or archive, or an archive of `docker save`. */
  readonly path: string
  /** The name of the image in the archive. It is needed if the archive has several. */
  readonly imageInArchive?: string
  /**
   * The name in the registry: `<user>/<app>[:<tag>]`, or an official image if the user is an administrator.
   */
  readonly name: string
  readonly registryUrl: string
  /** The URL of the API's `/registry/token`. */
  readonly tokenUrl: string
  /** The user's token, in the form that the API accepts. */
  readonly token: string
  /** Is told of each part before it is pushed. */
  readonly onBlob?: (part: PushedPart) => void
}

export interface PushedPart {
  readonly number: number
  readonly count: number
  readonly size: number
}

export interface ImportedImage {
  /** The image's name in the registry, such as `ann/app:latest`. */
  readonly reference: string
  readonly digest: string
}

/**
 * Puts an image from disk into the registry under a name. What the registry has already is not sent again.
 * Throws ImageArchiveError, or RegistryError (`denied` if the name is not the user's).
 */
export async function importImage(input: ImportImageInput): Promise<ImportedImage> {
  const host = new URL(input.registryUrl).host
  const reference = parseImageReference(input.name, [...wellKnownRegistryHosts, host])
  if (reference?.tag === undefined) throw new ImageArchiveError(`'${input.name}' is not a name with a tag`)
  const { repository, tag } = reference
  const archive = await openImageArchive(input.path)
  const image = await archive.image(input.imageInArchive)
  const http = createRegistryHttp({ url: input.registryUrl, token: userTokens(input) })
  try {
    await pushArchivedImage(createRegistryUpload(http), image, { repository, tag }, input.onBlob)
  } finally {
    await http.close()
  }
  return { reference: `${repository}:${tag}`, digest: image.manifest.digest }
}

/** Pushes the blobs before the manifest, so that the tag never points to an incomplete image. */
export async function pushArchivedImage(
  upload: RegistryUpload,
  image: ArchivedImage,
  target: { readonly repository: string; readonly tag: string },
  onBlob: (part: PushedPart) => void = () => undefined,
): Promise<void> {
  const count = image.blobs.length
  for (const [index, blob] of image.blobs.entries()) {
    onBlob({ number: index + 1, count, size: blob.size })
    await upload.blob(target.repository, blob, () => blob.open())
  }
  await upload.manifest(target.repository, target.tag, image.manifest)
}
