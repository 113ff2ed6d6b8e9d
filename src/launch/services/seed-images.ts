import { readFile } from 'node:fs/promises'
import { platformTokens } from '../../registry/platform-tokens.ts'
import { createRegistryHttp } from '../../registry/registry-http.ts'
import { RegistryAction } from '../../registry/registry-scope.ts'
import { seedOfficialImages } from '../../registry/seed-official.ts'
import { readRegistrySigningKey } from '../../registry/signing-key.ts'
import { createRegistryTokenIssuer } from '../../registry/token-issuer.ts'

export interface SeedImagesInput {
  readonly registryUrl: string
  readonly registryKeyFile: string
  readonly registryCertFile: string
  /** The directory of the OCI layout that set-up built. */
  readonly directory: string
}

/** Pushes the official images with a token that we sign ourselves. Returns the images that were new. */
export async function seedImages(input: SeedImagesInput): Promise<readonly string[]> {
  const key = readRegistrySigningKey({
    key: await readFile(input.registryKeyFile, 'utf8'),
    certificate: await readFile(input.registryCertFile, 'utf8'),
  })
  const token = platformTokens(createRegistryTokenIssuer(key), [RegistryAction.Pull, RegistryAction.Push])
  const http = createRegistryHttp({ url: input.registryUrl, token })
  try {
    return await seedOfficialImages({ http, directory: input.directory })
  } finally {
    await http.close()
  }
}
