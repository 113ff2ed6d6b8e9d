import { IsArray, IsBoolean, Type } from 'typebox'
import type { TProperties } from 'typebox'
import { problem } from '../errors.ts'
import type { Problem } from '../errors.ts'
import { nameField, uuidField, vocabulary } from '../fields.ts'
import { maxObjectsPerRequest, maxPageCount } from '../limits.ts'
import { Scope, identifiersOf } from '../operation.ts'
import type { Operation } from '../operation.ts'
import { ListOrder } from './parsed-request.ts'
import type { Page, Target } from './parsed-request.ts'
import { unknownParameter } from './unknown-parameter.ts'
import { problemsOf, shortened } from './validation-problems.ts'
import { coercingValidator } from './validators.ts'

const pageFields = {
  count: Type.Optional(
    Type.Integer({ minimum: 1, maximum: maxPageCount, description: 'Most entries to return; default all.' }),
  ),
  from: Type.Optional(
    Type.String({
      maxLength: 512,
      description:
        'UUID or digest of the last entry of the page before, or a number of entries to leave out.',
    }),
  ),
}

const orderFields = {
  order: Type.Optional(
    vocabulary(Object.values(ListOrder), 'Whether the oldest or the newest come first; default `asc`.'),
  ),
  sortby: Type.Optional(vocabulary(['create_time'], 'The one thing by which lists are ordered.')),
}

const listBounds = { minItems: 1, maxItems: maxObjectsPerRequest }
const identifierLists = {
  uuid: Type.Optional(
    Type.Array(uuidField, { ...listBounds, description: 'UUIDs, comma-separated or repeated.' }),
  ),
  name: Type.Optional(
    Type.Array(nameField, { ...listBounds, description: 'Names, comma-separated or repeated.' }),
  ),
}

/** The query parameters by which an operation names its objects. Each holds a list. */
export function identifierQuery(operation: Operation): TProperties {
  return Object.fromEntries(identifiersOf(operation).map((key) => [key, identifierLists[key]]))
}

/** Everything that the query of an operation may hold, besides its identifiers. */
export function querySchema(operation: Operation) {
  const { query, paged, ordered } = operation
  const fields = { ...query.properties, ...(paged ? pageFields : {}), ...(ordered ? orderFields : {}) }
  return Type.Object(fields, { additionalProperties: false })
}

export interface ParsedQuery {
  readonly targets: readonly Target[]
  /** The parameters of the objects that stand in the query: one value for all objects, or one per object. */
  readonly parameters: ReadonlyMap<string, readonly string[]>
  readonly query: Readonly<Record<string, unknown>>
  readonly page: Page
  readonly problems: readonly Problem[]
}

/**
 * Reads the query. Lists are comma-separated or repeated, everything else is given once. No value may be
 * empty.
 */
export function queryParser(
  operation: Operation,
): (query: string, object: string | undefined) => ParsedQuery {
  const schema = querySchema(operation)
  const validate = coercingValidator(schema)
  const properties = schema.properties as TProperties
  const objectProperties: TProperties = operation.inQuery ? operation.body.properties : {}
  const takesIdentifiers = operation.scope === Scope.Objects || operation.scope === Scope.ObjectsOrAll
  const identifiers: readonly string[] = takesIdentifiers ? identifiersOf(operation) : []
  const place = 'the query'

  return (text, object) => {
    const problems: Problem[] = []
    const parameters = new Map<string, readonly string[]>()
    const query: Record<string, unknown> = {}
    const parts = readParts(text, { ...properties, ...objectProperties })
    for (const [name, named] of Map.groupBy(parts, (part) => part.name)) {
      const values = named.map((part) => part.value)
      const ofQuery = Object.hasOwn(properties, name) ? properties[name] : undefined
      const isListOfQuery = ofQuery !== undefined && IsArray(ofQuery)
      const isList = isListOfQuery || identifiers.includes(name) || Object.hasOwn(objectProperties, name)
      const isKnown = isList || ofQuery !== undefined
      if (!isKnown) {
        problems.push(unknownParameter({ key: name, name: shortened(name), place }))
      } else if ((isList ? listed(values) : values).includes('')) {
        problems.push(problem('emptyParameter', { name }))
      } else if (identifiers.includes(name)) {
        if (object === undefined) continue
        problems.push(problem('identifierInLocalScope', { name, place, object: shortened(object) }))
      } else if (isListOfQuery) {
        query[name] = listed(values)
      } else if (isList) {
        parameters.set(name, listed(values))
      } else if (values.length > 1) {
        problems.push(problem('repeatedParameter', { name, count: values.length }))
      } else {
        query[name] = values[0]
      }
    }
    problems.push(...problemsOf(validate(query), { place, prefix: '', schema }))
    const targets = targetsOf(parts, identifiers)
    if (operation.paged === undefined) return { targets, parameters, query, page: {}, problems }
    const { count, from, order, sortby: _onlyOne, ...rest } = query as PageQuery
    return { targets, parameters, query: rest, page: page({ count, from, order }), problems }
  }
}

interface PageQuery {
  readonly count?: number | undefined
  readonly from?: string | undefined
  readonly order?: ListOrder | undefined
  readonly sortby?: string
}

interface QueryPart {
  readonly name: string
  readonly value: string
}

/**
 * The parameters in the order of the query. A flag needs no value: `?tagged` and `?tagged=1` are true,
 * `?tagged=` is an empty value.
 */
function readParts(text: string, schemas: TProperties): readonly QueryPart[] {
  return text.split('&').flatMap((written) =>
    // URLSearchParams drops a question mark at the beginning of its text. It may belong to the name here, so
    // an ampersand is put in front.
    [...new URLSearchParams(`&${written}`)].map(([name, value]): QueryPart => {
      const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined
      if (schema === undefined || !IsBoolean(schema)) return { name, value }
      return { name, value: written.includes('=') ? plainFlag(value) : 'true' }
    }),
  )
}

function plainFlag(value: string): string {
  if (value === '1') return 'true'
  return value === '0' ? 'false' : value
}

/** The objects that the query names, in its order, by UUID or by name. */
function targetsOf(parts: readonly QueryPart[], identifiers: readonly string[]): readonly Target[] {
  return parts.flatMap(({ name, value }) =>
    identifiers.includes(name)
      ? listed([value]).map((each) => ({ by: name as Target['by'], value: each }))
      : [],
  )
}

function page({ count, from, order }: PageQuery): Page {
  const part = { ...(count !== undefined && { count }), ...(order !== undefined && { order }) }
  if (from === undefined || from === '') return part
  return /^\d{1,9}$/.test(from) ? { ...part, offset: Number(from) } : { ...part, after: from }
}

function listed(values: readonly string[]): readonly string[] {
  return values.flatMap((value) => value.split(','))
}
