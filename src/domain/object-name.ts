/**
 * Names of objects are RFC 1035 domain names in lower case, never fully qualified, of at most `maxNameLength`
 * characters including their dots. A name is unique per user and kind, and may be given wherever a UUID may.
 */
export const maxNameLength = 121
export const maxLabelLength = 63

/** A label begins with a letter, ends with a letter or digit, and has no two hyphens in a row. */
const labelForm = '[A-Za-z](?:-?[A-Za-z0-9])*'

/**
 * The forms of a name and of a UUID, as regular expressions without anchors that every JSON Schema tool
 * understands. They do not limit the length of a label.
 */
export const objectNameForm = `${labelForm}(?:\\.${labelForm})*`
export const uuidForm = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'

const namePattern = new RegExp(`^${objectNameForm}$`)
const uuidPattern = new RegExp(`^${uuidForm}$`)

/** Returns the name in lower case, or undefined if the text is not a valid name. */
export function parseObjectName(text: string): string | undefined {
  if (text.length > maxNameLength || !namePattern.test(text)) return undefined
  return text.split('.').every((part) => part.length <= maxLabelLength) ? text.toLowerCase() : undefined
}

export function isUuid(text: string): boolean {
  return uuidPattern.test(text)
}

/** How many random characters end a generated instance name. */
export const nameSuffixLength = 5

/**
 * Returns `<app>-<suffix>`. `<app>` is the last part of the image's repository, made into a label: characters
 * that a label may not hold become hyphens, everything before the first letter is cut off, and if nothing is
 * left the name is `app`.
 */
export function generatedInstanceName(repository: string, suffix: string): string {
  const last = repository.slice(repository.lastIndexOf('/') + 1).toLowerCase()
  const cleaned = last.replaceAll(/[^a-z0-9]+/g, '-').replace(/^[^a-z]+/, '')
  return `${fit(cleaned, suffix.length) || 'app'}-${suffix}`
}

/** Returns `<name>-<suffix>` for a replica. A name that is too long is cut to make room for the suffix. */
export function replicaName(name: string, suffix: string): string {
  const short = name.slice(0, maxNameLength - suffix.length - 1).replace(/[-.]+$/, '')
  const lastLabel = short.lastIndexOf('.') + 1
  return `${short.slice(0, lastLabel)}${fit(short.slice(lastLabel), suffix.length)}-${suffix}`
}

function fit(text: string, suffixLength: number): string {
  return text.slice(0, maxLabelLength - suffixLength - 1).replace(/-+$/, '')
}
