import type { TSchema } from 'typebox'
import { maxNameLength, objectNameForm, uuidForm } from '../../domain/object-name.ts'

// Schemas of the contract as they stand in the OpenAPI document: without the formats and keywords of our own,
// and with regular expressions that every tool understands (no look-around, no escaped halves of surrogate
// pairs, no classes of characters by name).

type Json = Readonly<Record<string, unknown>>

const uuidPattern = `^${uuidForm}$`
const namePattern = `^${objectNameForm}$`
const textPattern = '^[^\\u0000]*$'
/** In the query a comma parts the elements of a list. */
const elementPattern = '^[^,\\u0000]*$'

/** What an answer holds. */
export function answerSchemaOf(schema: TSchema): Json {
  return rebuilt(plain(schema), withoutOwnKeywords)
}

/**
 * What a body holds. A property that may be left out may be null as well, and an identifier that may be left
 * out may be empty: `withoutAbsent` takes both for absent.
 */
export function bodySchemaOf(schema: TSchema): Json {
  return rebuilt(plain(schema), (node) => withoutOwnKeywords(withAbsentValues(portableText(node))))
}

/** What a parameter of the query holds. It is never empty; those that can be one per object can be lists. */
export function parameterSchemaOf(schema: TSchema, { isList }: { readonly isList: boolean }): Json {
  return rebuilt(plain(schema), (node) => {
    const text = withoutOwnKeywords(portableText(node))
    if (text['pattern'] !== textPattern) return text
    return { minLength: 1, ...text, pattern: isList ? elementPattern : textPattern }
  })
}

/** What stands for an object in a path. */
export function pathSchemaOf({ byUuid }: { readonly byUuid: boolean }): Json {
  const pattern = byUuid ? `^(?:${uuidForm}|${objectNameForm})$` : namePattern
  return { type: 'string', pattern, maxLength: maxNameLength }
}

/** A schema as JSON, without what TypeBox keeps in it for itself. */
function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json
}

/** The same schema with every part of it replaced, the inner ones first. */
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

/** Every text says that it holds no NUL, and those of our own formats what they hold. */
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
