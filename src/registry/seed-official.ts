import { officialNamespace } from '../domain/image/reference.ts'
import { openImageArchive } from './image-archive.ts'
import { pushArchivedImage } from './import.ts'
import { createRegistryClient } from './registry-client.ts'
import type { RegistryHttp } from './registry-http.ts'
import { createRegistryUpload } from './registry-upload.ts'

/**
 * Puts the official images that set-up built (`samples/build.ts`) into the registry: `hello:latest` of the
 * layout becomes `official/hello:latest`. What is there already is left alone. Returns the names that were
 * pushed. `http` needs tokens that may push to `official/...`.
 */
export async function seedOfficialImages(options: {
  readonly http: RegistryHttp
  /** The directory of the OCI layout. */
  readonly directory: string
}): Promise<readonly string[]> {
  const client = createRegistryClient(options.http)
  const upload = createRegistryUpload(options.http)
  const archive = await openImageArchive(options.directory)
  const pushed: string[] = []
  for (const name of archive.names) {
    const image = await archive.image(name)
    const [app = '', tag = ''] = name.split(':')
    const repository = `${officialNamespace}/${app}`
    if ((await client.digestOf(repository, tag)) === image.manifest.digest) continue
    await pushArchivedImage(upload, image, { repository, tag })
    pushed.push(`${repository}:${tag}`)
  }
  return pushed
}
