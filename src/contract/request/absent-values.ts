import { isJsonObject } from './objects.ts'

/** The keywords of JSON Schema that say what may be left out. */
interface Node {
  readonly anyOf?: readonly Node[]
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: readonly string[]
  readonly items?: Node
}

/**
 * Removes from a body, at every depth, the values that mean absent: `null` in a property that may be left
 * out, and an empty string in `uuid` or `name`, because clients send both keys and leave one of them empty. A
 * `null` in a required property, in a list or as the value of a variable stays, for the validator to refuse.
 *
 * It follows the schema only: values that the schema does not know stay as they are. The lengths of lists
 * have to be checked before (`body-counts.ts`).
 */
export function withoutAbsent(value: unknown, schema: Node): unknown {
  if (schema.anyOf !== undefined) return schema.anyOf.reduce<unknown>(withoutAbsent, value)
  const { items, properties, required = [] } = schema
  if (Array.isArray(value)) {
    return items === undefined ? value : value.map((item) => withoutAbsent(item, items))
  }
  if (!isJsonObject(value) || properties === undefined) return value
  const kept = Object.entries(value).filter(([key, inner]) => {
    const isIdentifier = key === 'uuid' || key === 'name'
    if (isIdentifier && inner === '') return false
    const isKnown = isIdentifier || Object.hasOwn(properties, key)
    return inner !== null || !isKnown || required.includes(key)
  })
  return Object.fromEntries(
    kept.map(([key, inner]) => {
      const node = Object.hasOwn(properties, key) ? properties[key] : undefined
      return [key, node === undefined ? inner : withoutAbsent(inner, node)]
    }),
  )
}
