/** The names that the registry and the tokens must agree on. */
export const registryService = 'roost-registry'
export const registryIssuer = 'roost'

export interface RegistryConfigInput {
  readonly storageDirectory: string
  /** The address at which the registry listens, such as `127.0.0.1:5000`. */
  readonly address: string
  /** Where clients get tokens: the API's `/registry/token`, as they reach it. */
  readonly realm: string
  /** The file with the certificate of the signing key, in PEM. */
  readonly certificateFile: string
  readonly logLevel?: 'error' | 'warn' | 'info' | 'debug'
}

/**
 * The configuration file of Debian's docker-registry (distribution 2.8): token authentication, file storage.
 */
export function registryConfig(input: RegistryConfigInput): string {
  return `${JSON.stringify(
    {
      version: 0.1,
      log: { level: input.logLevel ?? 'warn', accesslog: { disabled: true } },
      storage: {
        // There is no cache of descriptors: it would report blobs that the registry's owner has deleted, and
        // a push would leave them out.
        delete: { enabled: true },
        filesystem: { rootdirectory: input.storageDirectory },
        maintenance: { uploadpurging: { enabled: true, age: '24h', interval: '6h', dryrun: false } },
      },
      http: { addr: input.address, relativeurls: true, headers: { 'X-Content-Type-Options': ['nosniff'] } },
      auth: {
        token: {
          realm: input.realm,
          service: registryService,
          issuer: registryIssuer,
          rootcertbundle: input.certificateFile,
        },
      },
    },
    undefined,
    2,
  )}\n`
}
