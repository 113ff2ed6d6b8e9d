import { wantsTls } from './ssl-mode.ts'

/** The database can not be used as it is. The message says why, and what the operator can do. */
export class UnusableDatabase extends Error {
  override readonly name: string = 'UnusableDatabase'
}

/** What to do about each of PostgreSQL's refusals, by its code. */
const advice: Readonly<Record<string, string>> = {
  '28P01': 'correct the user and the password in DATABASE_URL',
  '28000':
    'correct the user in DATABASE_URL, or let it in by pg_hba.conf; if that asks for TLS, add sslmode=verify-full to DATABASE_URL',
  '3D000': 'create that database, or correct the name in DATABASE_URL',
  '42501': 'let the user make tables in the schema, or name another user in DATABASE_URL',
  '53300': 'raise max_connections of PostgreSQL, or end other connections',
  '55P03':
    'end the transaction that uses one of its tables for so long (a backup or a report may have it open), and try again',
  '57P03': 'try again when PostgreSQL has started',
}

/** What to do about each reason of Node not to trust the certificate of PostgreSQL. */
const adviceOnTrust: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'CERT_SIGNATURE_FAILURE',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ].map((code) => [code, 'name the authority of its certificate by sslrootcert in DATABASE_URL']),
  ),
  CERT_HAS_EXPIRED: 'renew its certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'let DATABASE_URL have a host name that is in its certificate',
}

/** PostgreSQL's code of an error, or Node's; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** The error for an operator if PostgreSQL refuses; undefined if an operator can not end the refusal. */
export function refusedByDatabase(url: string, cause: unknown): UnusableDatabase | undefined {
  const code = codeOf(cause)
  const [what, todo] =
    adviceOnTrust[code] === undefined ? ['refuses', advice[code]] : ['is not trusted', adviceOnTrust[code]]
  if (todo === undefined) return undefined
  return new UnusableDatabase(`${databasePlace(url)} ${what}: ${reasonOf(cause)}: ${todo}`, { cause })
}

/** The error for an operator if a connection to PostgreSQL could not be made. */
export function failedConnection(url: string, cause: unknown): UnusableDatabase {
  const todo = wantsTls(url)
    ? 'start PostgreSQL with TLS, or correct host, port and sslmode in DATABASE_URL'
    : 'start PostgreSQL, or correct host and port in DATABASE_URL'
  return (
    refusedByDatabase(url, cause) ??
    new UnusableDatabase(`${databasePlace(url)} does not answer: ${reasonOf(cause)}: ${todo}`, { cause })
  )
}

/** The host and the database's name in the URL, without the password. */
export function databasePlace(url: string): string {
  const { host, pathname } = new URL(url)
  return `the database at ${host}${pathname}`
}

/** Node reports a refused connection to a name with several addresses as an aggregate without a message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  return error instanceof Error ? error.message : String(error)
}
