/** A host with a port as it stands in an address. An IPv6 address needs brackets there. */
export function hostAndPort({ host, port }: { readonly host: string; readonly port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** The URL of the server at a host and a port, without a path. */
export function serverUrl(
  scheme: 'http' | 'https',
  at: { readonly host: string; readonly port: number },
): string {
  return `${scheme}://${hostAndPort(at)}`
}

const highestPort = 65_535
/** An IPv6 address in brackets, or a name or an IPv4 address. A port may follow. */
const withPort = /^(?:\[([^[\]]+)\]|([\w.-]+))(?::(\d{1,5}))?$/

export interface ReadHostAndPort {
  readonly host: string
  readonly port: number | undefined
}

/**
 * Reads what `hostAndPort` writes, and a host without a port: `192.0.2.10`, `roost.example.com:7443`,
 * `2001:db8::1`, `[2001:db8::1]:7443`. A host with colons is an IPv6 address, in its shortest form. Any other
 * one is a name or an IPv4 address, which is not looked at further. Undefined if the text is something else.
 */
export function readHostAndPort(text: string): ReadHostAndPort | undefined {
  const [, bracketed, name, digits] = withPort.exec(text) ?? []
  const host = name ?? shortestIpv6(bracketed ?? text)
  const port = digits === undefined ? undefined : Number(digits)
  if (host === undefined || port === 0 || (port ?? 0) > highestPort) return undefined
  return { host, port }
}

function shortestIpv6(text: string): string | undefined {
  if (!/^[\da-f:.]+$/i.test(text)) return undefined
  return URL.parse(`http://[${text}]`)?.hostname.slice(1, -1)
}

/** Whether only the machine itself reaches this name or address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || /^\[?::1\]?$/.test(host) || host.startsWith('127.')
}
