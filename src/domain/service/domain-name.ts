/**
 * Public names of services. A name that ends with dots is fully qualified and taken as it is; the metro
 * domain is appended to any other name. A name below the metro domain is served with the metro's wildcard
 * certificate, which covers one label. Any other name is a custom domain with a certificate of its own.
 */
export const DomainKind = { Metro: 'metro', Custom: 'custom' } as const
export type DomainKind = (typeof DomainKind)[keyof typeof DomainKind]

export interface DomainName {
  /** Lower case, without a final dot; a wildcard begins with `*.`. */
  readonly fqdn: string
  readonly kind: DomainKind
}

export type DomainNameOutcome =
  { readonly ok: true; readonly domain: DomainName } | { readonly ok: false; readonly reason: string }

/** The longest name as DNS counts it, without the final dot. */
export const maxDomainLength = 253
export const maxDomainLabelLength = 63
const wildcard = '*.'

/**
 * A label of a host name by RFC 1123: it may begin with a digit, and have hyphens in a row, which punycode
 * needs.
 */
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const labelForm = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const qualifiedForm = `(?:\\*\\.)?${labelForm}(?:\\.${labelForm})+`

/**
 * The patterns of the names that `parseDomainName` and `parseCommonName` accept. What depends on the metro
 * domain is not in them, and both functions also refuse a number as the last label.
 */
export const domainNamePattern = `^(?:${labelForm}|${qualifiedForm}\\.+)$`
export const commonNamePattern = `^${qualifiedForm}\\.*$`

/**
 * Labels below the metro domain that belong to the platform, or to which other software gives a meaning.
 * Every browser and resolver with that search domain looks up `wpad` and `isatap`. Certificate authorities
 * have issued certificates of a domain to the readers of its mail to `hostmaster` and similar addresses.
 */
export const reservedMetroLabels: ReadonlySet<string> = new Set(
  (
    'api www registry index gateway console dashboard admin root status metrics docs temporal roost metro internal ' +
    'localhost dns ns ns1 ns2 mail smtp imap pop ftp autoconfig autodiscover wpad isatap ' +
    'hostmaster postmaster webmaster administrator security abuse'
  ).split(' '),
)

/** Reads the name that a creator wrote. It is a name below `metroDomain` or a custom domain. */
export function parseDomainName(text: string, metroDomain: string): DomainNameOutcome {
  // Clients add a dot to the text of their user, which may end with a dot already.
  const bare = text.replace(/\.+$/, '')
  const written = bare.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
  const fqdn = bare.length < text.length ? written : `${written}.${metroDomain}`
  const reason = flawOf(fqdn)
  if (reason !== undefined) return { ok: false, reason }
  if (fqdn === metroDomain) return { ok: true, domain: { fqdn, kind: DomainKind.Metro } }
  return fqdn.endsWith(`.${metroDomain}`) ? metroName(fqdn, metroDomain) : customName(fqdn)
}

/**
 * Reads the name that a certificate is for, in the form of `DomainName`. It is fully qualified, with or
 * without a final dot.
 */
export function parseCommonName(text: string): DomainNameOutcome {
  const fqdn = lookedUpDomain(text)
  const reason = flawOf(fqdn) ?? (withoutWildcard(fqdn).includes('.') ? undefined : 'it has a single label')
  return reason === undefined ? customName(fqdn) : { ok: false, reason }
}

/** The name in the form in which the database has it. Nothing is appended to the name. */
export function lookedUpDomain(text: string): string {
  return text.replace(/\.+$/, '').replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

function flawOf(fqdn: string): string | undefined {
  if (fqdn.length > maxDomainLength) return `it is longer than ${maxDomainLength} characters`
  const labels = withoutWildcard(fqdn).split('.')
  const wrong = labels.find((each) => !label.test(each))
  if (wrong === undefined) return undefined
  if (wrong === '') return 'it has an empty label'
  if (wrong.length > maxDomainLabelLength) return `a label is longer than ${maxDomainLabelLength} characters`
  return `'${wrong}' is no label: expected letters, digits, and hyphens between them`
}

function metroName(fqdn: string, metroDomain: string): DomainNameOutcome {
  const own = fqdn.slice(0, -metroDomain.length - 1)
  if (own === '*') return { ok: false, reason: 'wildcards below the metro domain are not given out' }
  // The metro's certificate covers one label. A deeper name would be served with a certificate that no client
  // accepts.
  if (own.includes('.')) return { ok: false, reason: `only one label can stand before '${metroDomain}'` }
  return { ok: true, domain: { fqdn, kind: DomainKind.Metro } }
}

function customName(fqdn: string): DomainNameOutcome {
  const labels = withoutWildcard(fqdn).split('.')
  if (labels.length < 2)
    return {
      ok: false,
      reason: 'it has a single label; without a dot behind it, the metro domain is appended',
    }
  if (/^\d+$/.test(labels.at(-1)!))
    return { ok: false, reason: 'its last label is a number, as in an address' }
  return { ok: true, domain: { fqdn, kind: DomainKind.Custom } }
}

/**
 * Whether a name is the platform's own. A custom wildcard that would cover the metro domain itself is
 * reserved too.
 */
export function isReserved({ fqdn, kind }: DomainName, metroDomain: string): boolean {
  if (kind === DomainKind.Custom) return isWildcard(fqdn) && certifies(fqdn, metroDomain)
  return fqdn === metroDomain || reservedMetroLabels.has(fqdn.slice(0, -metroDomain.length - 1))
}

export function isWildcard(fqdn: string): boolean {
  return fqdn.startsWith(wildcard)
}

/**
 * Whether a certificate for `commonName` is valid for the domain: it has the same name, or is a wildcard of
 * its parent.
 */
export function certifies(commonName: string, fqdn: string): boolean {
  return commonNamesFor(fqdn).includes(commonName)
}

/** The common names that certify a domain, the closest first. */
export function commonNamesFor(fqdn: string): readonly string[] {
  return isWildcard(fqdn) ? [fqdn] : [fqdn, `${wildcard}${fqdn.slice(fqdn.indexOf('.') + 1)}`]
}

/** Takes `*.` off a wildcard; every label below the rest is covered. Any other name is returned as it is. */
export function withoutWildcard(fqdn: string): string {
  return isWildcard(fqdn) ? fqdn.slice(wildcard.length) : fqdn
}
