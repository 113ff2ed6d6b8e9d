import { createAcmeIssuer } from '../acme/acme-issuer.ts'
import type { Issuer } from '../acme/issuer.ts'
import { createLocalIssuer, localDirectory } from '../acme/local-issuer.ts'
import type { AuthorityStore } from '../acme/authority-store.ts'
import type { OrderPace } from '../domain/certificate/order-pace.ts'
import { readSettingFile } from '../settings/part-settings.ts'
import { SettingError } from '../settings/setting-formats.ts'
import type { Settings } from '../settings/settings.ts'

export interface ConfiguredIssuer {
  readonly issuer: Issuer
  /** The name under which orders are kept: the directory's URL, or `local`. */
  readonly directory: string
  /** The pace at which orders are made. It is absent if the authority has no limits. */
  readonly pace?: OrderPace
  close(): Promise<void>
}

const hourMs = 3_600_000
const caAdvice = 'name the file with the root certificate of the authority, in PEM'

/**
 * Makes the issuer for the authority that the settings name. Throws `SettingError`. It sends no request to
 * the authority before that is needed.
 */
export async function configuredIssuer(settings: Settings, store: AuthorityStore): Promise<ConfiguredIssuer> {
  const { acmeDirectoryUrl: directoryUrl, acmeContact: contacts } = settings
  if (directoryUrl === undefined)
    return { issuer: createLocalIssuer({ store }), directory: localDirectory, close: () => Promise.resolve() }
  const ca =
    settings.acmeCaFile === undefined
      ? undefined
      : await readSettingFile('ROOST_ACME_CA_FILE', settings.acmeCaFile, caAdvice)
  const externalAccount = externalAccountOf(settings)
  const issuer = createAcmeIssuer({
    directoryUrl,
    store,
    ...(ca !== undefined && { ca }),
    ...(contacts !== undefined && { contacts }),
    ...(externalAccount !== undefined && { externalAccount }),
  })
  const pace = {
    orders: settings.acmeOrders,
    windowMs: settings.acmeOrdersHours * hourMs,
    nameOrders: settings.acmeNameOrders,
  }
  return { issuer, directory: directoryUrl, pace, close: () => issuer.close() }
}

function externalAccountOf({ acmeEabKid: keyId, acmeEabHmacKey: hmacKey }: Settings) {
  if (keyId !== undefined && hmacKey !== undefined) return { keyId, hmacKey }
  if (keyId === undefined && hmacKey === undefined) return undefined
  throw new SettingError(
    'one of ROOST_ACME_EAB_KID and ROOST_ACME_EAB_HMAC_KEY is missing: set both or neither',
  )
}
