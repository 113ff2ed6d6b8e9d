/**
 * Names of objects: RFC 1035 domain names, lower-cased, at most `maxNameLength` characters with their dots,
 * never fully qualified. They are unique per user and kind and stand wherever a UUID stands.
 */
export const maxNameLength = 121
export const maxLabelLength = 63

/** A letter first, a letter or digit last, no two hyphens in a row. */
const labelForm = '[A-Za-z](?:-?[A-Za-z0-9])*'

/**
 * The forms of a name and of a UUID as regular expressions without anchors, in what every tool for JSON
 * Schema understands. They do not say how long a label may be.
 */
export const objectNameForm = `${labelForm}(?:\\.${labelForm})*`
export const uuidForm = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'

const namePattern = new RegExp(`^${objectNameForm}$`)
const uuidPattern = new RegExp(`^${uuidForm}$`)

/** The name in lower case, or undefined where it is none. */
export function parseObjectName(text: string): string | undefined {
  if (text.length > maxNameLength || !namePattern.test(text)) return undefined
  return text.split('.').every((part) => part.length <= maxLabelLength) ? text.toLowerCase() : undefined
}

export function isUuid(text: string): boolean {
  return uuidPattern.test(text)
}

/** How many random characters stand behind a generated instance name. */
export const nameSuffixLength = 5

/**
 * `<app>-<suffix>`, where `<app>` is the last part of the image's repository made into a label: what a label
 * may not hold becomes a hyphen, and an application without any letter in front is called `app`.
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
