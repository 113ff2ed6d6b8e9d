import type { TSchema } from 'typebox'
import { maxNameLength, objectNameForm, uuidForm } from '../../domain/object-name.ts'
import type { IdentifierKey } from '../operation.ts'

// Schemas of the contract in the form that the OpenAPI document has: without our own formats and keywords,
// and with regular expressions that every tool understands (no look-around, no escaped halves of surrogate
// pairs, no classes of characters by name).

type Json = Readonly<Record<string, unknown>>

const uuidPattern = `^${uuidForm}$`
const namePattern = `^${objectNameForm}$`
const textPattern = '^[^\\u0000]*$'
/** The pattern of a list's element in the query, where a comma separates the elements. */
const elementPattern = '^[^,\\u0000]*$'

/** The schema of an answer. */
export function answerSchemaOf(schema: TSchema): Json {
  return rebuilt(plain(schema), withoutOwnKeywords)
}

/**
 * The schema of a body. A property that may be left out may also be null, and an identifier that may be left
 * out may be empty: `withoutAbsent` treats both as absent.
 */
export function bodySchemaOf(schema: TSchema): Json {
  return rebuilt(plain(schema), (node) => withoutOwnKeywords(withAbsentValues(portableText(node))))
}

/**
 * The schema of a parameter of the query. Its value is never empty. A parameter that can be given per
 * object can be a list.
 */
export function parameterSchemaOf(schema: TSchema, { isList }: { readonly isList: boolean }): Json {
  return rebuilt(plain(schema), (node) => {
    const text = withoutOwnKeywords(portableText(node))
    if (text['pattern'] !== textPattern) return text
    return { minLength: 1, ...text, pattern: isList ? elementPattern : textPattern }
  })
}

/** The schema of an object's identifier in a path. */
export function pathSchemaOf(identifiers: readonly IdentifierKey[]): Json {
  const forms = { uuid: uuidForm, name: objectNameForm }
  const [form, ...others] = identifiers.map((key) => forms[key])
  const pattern = others.length === 0 ? `^${form}$` : `^(?:${[form, ...others].join('|')})$`
  return { type: 'string', pattern, ...(identifiers.includes('name') && { maxLength: maxNameLength }) }
}

/** A schema as JSON, without what TypeBox adds for itself. */
function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json
}

/** The schema with every part of it replaced, the inner parts first. */
function rebuilt(node: Json, replace: (node: Json) => Json): Json {
  const each = (inner: unknown) => rebuilt(inner as Json, replace)
  const entries = Object.entries(node).map(([keyword, value]): [string, unknown] => {
    switch (keyword) {
      case 'properties':
      case 'patternProperties':
        return [
          keyword,
          Object.fromEntries(Object.entries(value as Json).map(([key, one]) => [key, each(one)])),
        ]
      case 'anyOf':
        return [keyword, (value as readonly unknown[]).map(each)]
      case 'items':
        return [keyword, each(value)]
      default:
        return [keyword, value]
    }
  })
  return replace(Object.fromEntries(entries))
}

function withoutOwnKeywords(node: Json): Json {
  const { 'x-place': _place, 'x-published': rules, ...rest } = node
  return { ...rest, ...(rules as Json | undefined) }
}

/**
 * A text without a pattern gets one that excludes NUL; a text with a format of our own gets the pattern of
 * that format.
 */
function portableText(node: Json): Json {
  const { format, ...rest } = node
  if (node['type'] !== 'string' || 'enum' in node || 'pattern' in node) return node
  if (format === 'uuid') return { ...rest, pattern: uuidPattern }
  if (format === 'object-name') return { ...rest, pattern: namePattern, maxLength: maxNameLength }
  return { ...node, pattern: textPattern }
}

function withAbsentValues(node: Json): Json {
  const { properties, required = [] } = node as {
    readonly properties?: Readonly<Record<string, Json>>
    readonly required?: readonly string[]
  }
  if (properties === undefined) return node
  const entries = Object.entries(properties).map(([key, schema]) => [
    key,
    required.includes(key) ? schema : orNull(orEmpty(schema)),
  ])
  return { ...node, properties: Object.fromEntries(entries) as unknown }
}

function orEmpty(schema: Json): Json {
  const { pattern } = schema
  if (pattern === uuidPattern) return { ...schema, pattern: `^(?:${uuidForm})?$` }
  return pattern === namePattern ? { ...schema, pattern: `^(?:${objectNameForm})?$` } : schema
}

function orNull(schema: Json): Json {
  const {
    type,
    enum: words,
    anyOf,
  } = schema as {
    readonly type?: string
    readonly enum?: readonly unknown[]
    readonly anyOf?: readonly Json[]
  }
  if (anyOf !== undefined && type === undefined) {
    return { ...schema, anyOf: [...anyOf.filter((one) => one['type'] !== 'null'), { type: 'null' }] }
  }
  return { ...schema, type: [type, 'null'], ...(words && { enum: [...words, null] }) }
}
