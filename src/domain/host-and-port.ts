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
