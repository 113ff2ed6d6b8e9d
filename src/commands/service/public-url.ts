import type { Access } from '../access.ts'

const httpsPort = 443

/** The address under which a browser finds a domain. */
export function publicUrl(
  { portOffset }: Pick<Access, 'portOffset'>,
  fqdn: string,
  port = httpsPort,
): string {
  const listens = port + portOffset
  return `https://${fqdn}${listens === httpsPort ? '' : `:${listens}`}`
}
