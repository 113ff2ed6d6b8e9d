import { IsBoolean, Type } from 'typebox'
import type { TProperties, TSchema } from 'typebox'
import { problem } from './errors.ts'
import type { Problem } from './errors.ts'
import { nameField, uuidField } from './fields.ts'
import { maxPageCount } from './limits.ts'
import { Scope, identifiersOf } from './operation.ts'
import type { Operation } from './operation.ts'
import type { Page, Target } from './parsed-request.ts'
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

const identifierLists = {
  uuid: Type.Optional(Type.Array(uuidField, { description: 'UUIDs, comma-separated or repeated.' })),
  name: Type.Optional(Type.Array(nameField, { description: 'Names, comma-separated or repeated.' })),
}

/** The lists by which the query of an operation names its objects. */
export function identifierQuery(operation: Operation): TProperties {
  return Object.fromEntries(identifiersOf(operation).map((key) => [key, identifierLists[key]]))
}

/** Everything that the query of an operation may hold, besides its identifiers. */
export function querySchema(operation: Operation) {
  const { query, paged } = operation
  return Type.Object({ ...query.properties, ...(paged ? pageFields : {}) }, { additionalProperties: false })
}

export interface ParsedQuery {
  readonly targets: readonly Target[]
  /** Object parameters that came by the query: one value, or one per object. */
  readonly parameters: ReadonlyMap<string, readonly string[]>
  readonly query: Readonly<Record<string, unknown>>
  readonly page: Page
  readonly problems: readonly Problem[]
}

/** Reads the query: lists are comma-separated or repeated, everything else is given once. */
export function queryParser(
  operation: Operation,
): (query: URLSearchParams, object: string | undefined) => ParsedQuery {
  const schema = querySchema(operation)
  const validate = coercingValidator(schema)
  const names = new Set(Object.keys(schema.properties))
  const objectNames = new Set(operation.inQuery ? Object.keys(operation.body.properties) : [])
  const takesIdentifiers = operation.scope === Scope.Objects || operation.scope === Scope.ObjectsOrAll
  const identifiers: readonly string[] = takesIdentifiers ? identifiersOf(operation) : []
  const place = 'the query'

  return (raw, object) => {
    const problems: Problem[] = []
    const targets = targetsOf(raw, identifiers)
    const parameters = new Map<string, readonly string[]>()
    const query: Record<string, unknown> = {}
    for (const name of new Set(raw.keys())) {
      const values = raw.getAll(name)
      if (identifiers.includes(name)) {
        if (object !== undefined && listed(values).length > 0) {
          problems.push(problem('identifierInLocalScope', { name, place, object: shortened(object) }))
        }
      } else if (objectNames.has(name)) {
        parameters.set(name, listed(values))
      } else if (!names.has(name)) {
        problems.push(problem('unknownParameter', { name, place }))
      } else if (values.length > 1) {
        problems.push(problem('repeatedParameter', { name, count: values.length }))
      } else {
        query[name] = plainFlag(values[0] ?? '', (schema.properties as TProperties)[name])
      }
    }
    problems.push(...problemsOf(validate(query), { place, prefix: '', schema }))
    const { count, from, ...rest } = query as { count?: number; from?: string }
    return { targets, parameters, query: operation.paged ? rest : query, page: page(count, from), problems }
  }
}

/** In the order in which they stand, whichever the kind. */
function targetsOf(query: URLSearchParams, identifiers: readonly string[]): readonly Target[] {
  return [...query].flatMap(([by, text]) =>
    identifiers.includes(by) ? listed([text]).map((value) => ({ by: by as Target['by'], value })) : [],
  )
}

function page(count: number | undefined, from: string | undefined): Page {
  const size = count === undefined ? {} : { count }
  if (from === undefined || from === '') return size
  return /^\d{1,9}$/.test(from) ? { ...size, offset: Number(from) } : { ...size, after: from }
}

function listed(values: readonly string[]): readonly string[] {
  return values.flatMap((value) => value.split(',')).filter((value) => value !== '')
}

/** `?tagged` and `?tagged=1` are true: a flag need not have a value. */
function plainFlag(value: string, schema: TSchema | undefined): string {
  if (schema === undefined || !IsBoolean(schema)) return value
  if (value === '' || value === '1') return 'true'
  return value === '0' ? 'false' : value
}
