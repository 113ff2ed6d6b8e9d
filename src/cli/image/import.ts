import { readFile } from 'node:fs/promises'
import { publicImageName } from '../../domain/image/reference.ts'
import { ImageArchiveError } from '../../registry/image-archive.ts'
import { importImage } from '../../registry/import.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import { CliFailure } from '../cli-failure.ts'
import type { ImageStore, ImageToStore } from '../cli-deps.ts'

export interface ImageStoreOptions {
  /** Finds the addresses of the services. Throws `CliFailure` if no stack is known. */
  readonly addresses: () => Promise<{ readonly registryUrl: string; readonly apiUrl: string }>
  readonly administratorTokenFile: string
  /** The user's token from the environment. */
  readonly userToken: string | undefined
}

/** Pushes by the registry's own protocol, with a token that the API gives in exchange for the user's. */
export function createImageStore(options: ImageStoreOptions): ImageStore {
  return {
    async store(image) {
      const token = await tokenFor(image.as, options)
      const { registryUrl, apiUrl } = await options.addresses()
      const { path, name, imageInArchive } = image
      const input = { path, name, registryUrl, tokenUrl: `${apiUrl}/registry/token`, token }
      try {
        const named = imageInArchive === undefined ? {} : { imageInArchive }
        const { reference, digest } = await importImage({ ...input, ...named })
        return { reference: publicImageName(reference), digest }
      } catch (error) {
        throw explained(error, image)
      }
    },
  }
}

async function tokenFor(as: ImageToStore['as'], options: ImageStoreOptions): Promise<string> {
  const file = as === 'administrator' ? options.administratorTokenFile : as.tokenFile
  if (file === undefined) {
    if (options.userToken !== undefined) return options.userToken
    throw new CliFailure('the user of the image is not known: give --token-file, or the token in UKC_TOKEN')
  }
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw new CliFailure(`the token can not be read from ${file}: ${messageOf(error)}`, { cause: error })
  }
}

function explained(error: unknown, image: ImageToStore): unknown {
  const isExpected =
    error instanceof ImageArchiveError ||
    error instanceof RegistryError ||
    (error instanceof Error && 'code' in error && typeof error.code === 'string')
  return isExpected ? new CliFailure(`${image.path}: ${messageOf(error)}`, { cause: error }) : error
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
