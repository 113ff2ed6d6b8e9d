/**
 * What `sslmode` in the URL of a database may be, with the meaning that it has for PostgreSQL's own tools.
 * Their other two, `allow` and `prefer`, would speak without TLS when somebody on the way prevents it.
 */
export const SslMode = {
  Disable: 'disable',
  /** TLS. The authority of the certificate is checked if `sslrootcert` names one. */
  Require: 'require',
  /** TLS, and the authority is checked. */
  VerifyAuthority: 'verify-ca',
  /** TLS, and the authority and the host's name are checked. */
  VerifyFull: 'verify-full',
} as const
export type SslMode = (typeof SslMode)[keyof typeof SslMode]

/** What a URL may say about TLS. */
export const sslParameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']
/** As with PostgreSQL's own tools, this `sslrootcert` is all authorities that the machine trusts. */
export const systemAuthorities = 'system'

/** Why the URL says nothing usable about TLS. Undefined if it does. */
export function sslFlaw(url: string): string | undefined {
  const { searchParams } = new URL(url)
  const unknown = [...searchParams.keys()].find(
    (name) => name.startsWith('ssl') && !sslParameters.includes(name),
  )
  if (unknown !== undefined) return `has '${unknown}'; it may have ${sslParameters.join(', ')}`
  const mode = searchParams.get('sslmode')
  const modes: readonly string[] = Object.values(SslMode)
  if (mode !== null && !modes.includes(mode)) return `has sslmode '${mode}'; it has to be ${modes.join(', ')}`
  const needless = sslParameters.find((name) => name !== 'sslmode' && searchParams.has(name))
  if (needless !== undefined && !wantsTls(url)) return `has ${needless} and no sslmode that uses it`
  const root = searchParams.get('sslrootcert')
  // Of any authority of the system anybody may have a certificate, so the name has to be checked as well.
  const isAnybodys = root === systemAuthorities || (root === null && mode === SslMode.VerifyAuthority)
  if (isAnybodys && mode !== SslMode.VerifyFull)
    return `has sslmode '${mode}', with which sslrootcert has to name a file; or make it ${SslMode.VerifyFull}`
  if (searchParams.has('sslcert') !== searchParams.has('sslkey'))
    return 'has one of sslcert and sslkey; it has to have both or none'
  return undefined
}

/** Whether connections to this URL have to use TLS. */
export function wantsTls(url: string): boolean {
  const mode = new URL(url).searchParams.get('sslmode')
  return mode !== null && mode !== SslMode.Disable
}

/** The files that the URL names. */
export function sslFiles(url: string): readonly string[] {
  const { searchParams } = new URL(url)
  return ['sslrootcert', 'sslcert', 'sslkey'].flatMap((name) => {
    const file = searchParams.get(name)
    return file === null || file === systemAuthorities ? [] : [file]
  })
}
