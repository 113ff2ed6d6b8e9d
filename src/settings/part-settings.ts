import { readFile } from 'node:fs/promises'
import { UnusableDatabase } from '../db/unusable-database.ts'
import { parseSecretKey, SecretBoxError } from '../db/secret-box.ts'
import type { TemporalServer } from '../trust/temporal-tls.ts'
import { KeptIdentity, readIdentity } from '../trust/kept-identity.ts'
import { SettingError } from './setting-formats.ts'
import type { Settings } from './settings.ts'

/** The advice to an operator who does not have the file. */
const madeByPrepare = 'the first start of Roost makes it, or src/bin/prepare.ts'

/**
 * The text of a file that a setting names. Throws `SettingError` if the file can not be read or is empty.
 */
export async function readSettingFile(
  setting: string,
  file: string,
  advice = madeByPrepare,
): Promise<string> {
  const refuse = (what: string, cause?: unknown) =>
    new SettingError(`${setting} is '${file}', which ${what}: ${advice}`, { cause })
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw refuse(
      cause.code === 'ENOENT' ? 'does not exist' : `can not be read (${String(cause.code)})`,
      cause,
    )
  })
  if (text.trim() === '') throw refuse('is empty')
  return text.trim()
}

/** The key that decrypts what is encrypted in the database. */
export async function readSecretKey(file: string): Promise<Uint8Array> {
  const text = await readSettingFile('ROOST_SECRET_KEY_FILE', file)
  try {
    return parseSecretKey(text)
  } catch (cause) {
    if (!(cause instanceof SecretBoxError)) throw cause
    throw new SettingError(`ROOST_SECRET_KEY_FILE is '${file}', which holds no key: ${cause.message}`, {
      cause,
    })
  }
}

/** What the machine got when it joined. Undefined if it did not, because the setting is absent. */
export async function keptIdentity(directory: string | undefined): Promise<KeptIdentity | undefined> {
  if (directory === undefined) return undefined
  const identity = await readIdentity(directory)
  if (identity !== undefined) return new KeptIdentity(directory, identity)
  throw new SettingError(`ROOST_IDENTITY_DIR is '${directory}', in which nothing is: \`roost join\` makes it`)
}

type TemporalSettings = Pick<
  Settings,
  | 'temporalAddress'
  | 'temporalNamespace'
  | 'temporalTls'
  | 'temporalAuthorityFile'
  | 'temporalServerName'
  | 'temporalCertFile'
  | 'temporalKeyFile'
>

/**
 * Temporal as the settings name it, and the namespace in it. Throws `SettingError` if a file can not be read.
 */
export async function readTemporalPlace(
  settings: TemporalSettings,
): Promise<TemporalServer & { readonly namespace: string }> {
  const { temporalAddress: address = '127.0.0.1:7233', temporalNamespace: namespace } = settings
  const { temporalAuthorityFile: authority, temporalServerName: serverName } = settings
  const { temporalCertFile: certificate, temporalKeyFile: key } = settings
  const isAsked = [authority, serverName, certificate, key].some((one) => one !== undefined)
  if (!(settings.temporalTls ?? isAsked)) return { address, namespace }
  const advice = 'name a file that this part may read'
  const read = async (setting: string, file: string) => await readSettingFile(setting, file, advice)
  if ((certificate === undefined) !== (key === undefined)) {
    throw new SettingError(
      'of TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH one is set; set both, or none',
    )
  }
  const tls = {
    ...(authority !== undefined && {
      authority: await read('TEMPORAL_TLS_SERVER_CA_CERT_PATH', authority),
    }),
    ...(serverName !== undefined && { serverName }),
    ...(certificate !== undefined &&
      key !== undefined && {
        client: {
          certificate: await read('TEMPORAL_TLS_CLIENT_CERT_PATH', certificate),
          key: await read('TEMPORAL_TLS_CLIENT_KEY_PATH', key),
        },
      }),
  }
  return { address, namespace, tls }
}

/** The token that a host shows when it joins. */
export async function readJoinToken(file: string): Promise<string> {
  return readSettingFile('ROOST_JOIN_TOKEN_FILE', file, joinTokenAdvice)
}

const joinTokenAdvice =
  'put the token there that `cat <data directory>/keys/join-token` prints on the machine of the API, ' +
  'or name the file that has it'

/** Returns a setting that this part must have. Throws `SettingError` if it is not set. */
export function required(setting: string, value: string | undefined): string {
  if (value === undefined) {
    throw new SettingError(
      `${setting} is not set: this part starts no services of its own, so set it to the address of one (docs/settings.md)`,
    )
  }
  return value
}

/**
 * Runs `read`, which reads the settings of a part of Roost or brings the database up to date. If a setting
 * or the database is not usable, the process ends with one line on stderr.
 */
export async function startWith<T>(part: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof SettingError || error instanceof UnusableDatabase)) throw error
    process.stderr.write(`The ${part} can not start: ${error.message}\n`)
    return process.exit(1)
  }
}
