import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { SslMode, sslParameters, systemAuthorities, wantsTls } from './ssl-mode.ts'
import { databasePlace, UnusableDatabase } from './unusable-database.ts'

/** How every connection to a database is made. */
export interface DatabaseAddress {
  /** The URL without what it says about TLS. */
  readonly connectionString: string
  readonly ssl: false | ConnectionOptions
}

/**
 * Reads the URL of a database. `pg` and MikroORM read `sslmode` each in their own way (MikroORM's pool would
 * ignore it), so neither sees it. Throws `UnusableDatabase` if a file that the URL names can not be read. The
 * files are read once: a new certificate counts from the next start.
 */
export function databaseAddress(url: string): DatabaseAddress {
  const plain = new URL(url)
  for (const name of sslParameters) plain.searchParams.delete(name)
  return { connectionString: plain.href, ssl: wantsTls(url) && tlsOf(url) }
}

function tlsOf(url: string): ConnectionOptions {
  const { searchParams } = new URL(url)
  const mode = searchParams.get('sslmode')
  const root = searchParams.get('sslrootcert')
  const text = (name: string): string | undefined => {
    const file = searchParams.get(name)
    return file === null ? undefined : readGiven(url, name, file)
  }
  const [cert, key] = [text('sslcert'), text('sslkey')]
  const ca = root === systemAuthorities ? undefined : text('sslrootcert')
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    rejectUnauthorized: mode !== SslMode.Require || root !== null,
    ...(mode !== SslMode.VerifyFull && { checkServerIdentity: () => undefined }),
  }
}

function readGiven(url: string, name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause)
    const what = `${databasePlace(url)} can not be used: ${name} in DATABASE_URL is '${file}', which can not be read (${code})`
    throw new UnusableDatabase(`${what}: name a file that this part may read`, { cause })
  }
}
