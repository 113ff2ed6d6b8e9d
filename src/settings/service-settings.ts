import * as read from './setting-formats.ts'
import { optional, setting } from './setting.ts'

/**
 * The services that an installation may have of its own. Those of Temporal are called as in the tools and
 * SDKs of Temporal.
 */
export const serviceSettings = {
  databaseUrl: setting('DATABASE_URL', optional(read.asPostgresUrl), undefined, {
    defaultText: 'embedded',
    meaning:
      'Address of PostgreSQL. If it is set, the stack starts none of its own. It may have `sslmode`, `sslrootcert`, `sslcert` and `sslkey`, see [operations.md](operations.md#postgresql-and-temporal-of-your-own).',
  }),
  temporalAddress: setting('TEMPORAL_ADDRESS', optional(read.asText), undefined, {
    defaultText: 'embedded',
    meaning: 'Address of Temporal, `host:port`. If it is set, the stack starts none of its own.',
  }),
  temporalNamespace: setting('TEMPORAL_NAMESPACE', read.asText, 'roost', {
    meaning: 'Namespace in Temporal.',
  }),
  temporalTls: setting('TEMPORAL_TLS', read.trueOrFalse, undefined, {
    defaultText: '`true` if one of the next four is set',
    meaning: 'Whether the Temporal at `TEMPORAL_ADDRESS` is reached by TLS (`true`, `false`).',
  }),
  temporalAuthorityFile: setting('TEMPORAL_TLS_SERVER_CA_CERT_PATH', optional(read.asPath), undefined, {
    defaultText: 'the authorities that the machine trusts',
    meaning: "Certificate of the authority of Temporal's certificate (PEM).",
  }),
  temporalServerName: setting('TEMPORAL_TLS_SERVER_NAME', optional(read.asDomain), undefined, {
    defaultText: 'the host in `TEMPORAL_ADDRESS`',
    meaning: "Name that Temporal's certificate has to have.",
  }),
  temporalCertFile: setting('TEMPORAL_TLS_CLIENT_CERT_PATH', optional(read.asPath), undefined, {
    defaultText: 'none',
    meaning: 'Certificate that the parts show to Temporal (PEM).',
  }),
  temporalKeyFile: setting('TEMPORAL_TLS_CLIENT_KEY_PATH', optional(read.asPath), undefined, {
    defaultText: 'none',
    meaning: 'Private key of that certificate (PEM).',
  }),
  registryUrl: setting('ROOST_REGISTRY_URL', optional(read.asUrl), undefined, {
    defaultText: 'embedded',
    meaning:
      'Address of an OCI registry, `http://host:port`. If it is set, the stack starts none of its own.',
  }),
} as const
