/**
 * Names of objects: RFC 1035 domain names, lower-cased, at most `maxNameLength` characters with their dots, never
 * fully qualified. They are unique per user and kind and stand wherever a UUID stands.
 */
export const maxNameLength = 121
export const maxLabelLength = 63

/** A letter first, a letter or digit last, no two hyphens in a row. */
const label = /^[a-z](?:-?[a-z0-9])*$/

/** The name in lower case, or undefined where it is none. */
export function parseObjectName(text: string): string | undefined {
  if (text.length === 0 || text.length > maxNameLength) return undefined
  // Only ASCII letters are lower-cased: toLowerCase would turn the Kelvin sign into a `k`.
  const name = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
  const valid = name.split('.').every((part) => part.length <= maxLabelLength && label.test(part))
  return valid ? name : undefined
}

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return uuidPattern.test(text)
}

/** How many random characters stand behind a generated instance name. */
export const nameSuffixLength = 5

/**
 * `<app>-<suffix>`, where `<app>` is the last part of the image's repository made into a label: what a label may not
 * hold becomes a hyphen, and an application without any letter in front is called `app`.
 */
export function generatedInstanceName(repository: string, suffix: string): string {
  const last = repository.slice(repository.lastIndexOf('/') + 1).toLowerCase()
  const cleaned = last.replaceAll(/[^a-z0-9]+/g, '-').replace(/^[^a-z]+/, '')
  return `${fit(cleaned, suffix.length) || 'app'}-${suffix}`
}

/** `<name>-<suffix>` of a replica; a name at its limit is cut so that the suffix has room. */
export function replicaName(name: string, suffix: string): string {
  const short = name.slice(0, maxNameLength - suffix.length - 1).replace(/[-.]+$/, '')
  const lastLabel = short.lastIndexOf('.') + 1
  return `${short.slice(0, lastLabel)}${fit(short.slice(lastLabel), suffix.length)}-${suffix}`
}

function fit(text: string, suffixLength: number): string {
  return text.slice(0, maxLabelLength - suffixLength - 1).replace(/-+$/, '')
}
