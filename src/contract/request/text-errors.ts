import type { ErrorObject } from 'ajv/dist/2020.js'
import { isPlainText } from '../../domain/plain-text.ts'

/** The keyword of the errors below; JSON Schema has none of this kind. */
export const textKeyword = 'text'

/**
 * Returns an error for each string, and each key of an object, that is not plain text
 * (`src/domain/plain-text.ts`). It looks at every value that passed a schema, so no schema can forget this
 * rule, and the schema bounds how much there is to look at.
 */
export function textErrors(value: unknown, path = ''): ErrorObject[] {
  if (typeof value === 'string') return isPlainText(value) ? [] : [textError(path, value)]
  if (Array.isArray(value)) return value.flatMap((item, index) => textErrors(item, `${path}/${index}`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    isPlainText(key) ? textErrors(inner, `${path}/${pointer(key)}`) : [textError(path, inner, key)],
  )
}

function textError(instancePath: string, data: unknown, key?: string): ErrorObject {
  const params = key === undefined ? {} : { key }
  return { keyword: textKeyword, instancePath, schemaPath: `#/${textKeyword}`, params, data }
}

/** A key as JSON Pointer writes it. */
function pointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
