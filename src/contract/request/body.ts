import { Type } from 'typebox'
import type { TObject } from 'typebox'
import { withoutAbsent } from './absent-values.ts'
import { countProblems } from './body-counts.ts'
import { clientForms } from './client-forms.ts'
import { problem } from '../errors.ts'
import type { Problem } from '../errors.ts'
import { closed, identifierFields } from '../fields.ts'
import { maxReportedErrors } from '../limits.ts'
import { Scope, identifiersOf } from '../operation.ts'
import type { Operation } from '../operation.ts'
import type { Target } from './parsed-request.ts'
import { isJsonObject, takeIdentifier, tooManyProblem } from './objects.ts'
import { atMostOne, bothRules } from '../openapi/published-rules.ts'
import type { JsonObject } from './objects.ts'
import { problemsOf, shortened } from './validation-problems.ts'
import { strictValidator } from './validators.ts'

/**
 * One object of a body: the target, if the object names one, and the parameters. The parameters fit the
 * schema if no problems were found.
 */
export interface BodyObject {
  readonly target?: Target
  readonly parameters: JsonObject
}

export interface ParsedBody {
  readonly objects: readonly BodyObject[]
  readonly problems: readonly Problem[]
}

export function namesObjects(operation: Operation): boolean {
  return operation.scope === Scope.Objects || operation.scope === Scope.ObjectsOrAll
}

/** The schema of one body object in global scope. The OpenAPI document has the same. */
export function globalBody(operation: Operation): TObject {
  if (!namesObjects(operation)) return operation.body
  const keys = identifiersOf(operation)
  const identifiers = Object.fromEntries(keys.map((key) => [key, identifierFields[key]]))
  const { 'x-published': rules, properties } = operation.body as TObject & { readonly 'x-published'?: object }
  return closed({ ...identifiers, ...properties }, { 'x-published': bothRules(atMostOne(keys), rules) })
}

/**
 * All properties that a body can have in any of its forms. Any other property is unknown, and its value is
 * never treated as absent.
 */
function everyForm(operation: Operation): TObject {
  const { properties, required } = globalBody(operation)
  const { ids } = operation.idsForm?.properties ?? {}
  return { ...Type.Object({ ...properties, ...(ids && { ids }) }), required: required ?? [] }
}

/**
 * Reads a body: one object or an array of them in global scope, one object without identifiers in local
 * scope. Changes may be an array in local scope, too.
 */
export function bodyParser(operation: Operation): (body: unknown, object: string | undefined) => ParsedBody {
  const { place } = operation
  const schemas = { global: globalBody(operation), local: operation.body }
  const validate = { global: strictValidator(schemas.global), local: strictValidator(schemas.local) }
  const known = everyForm(operation)
  const plainForm = clientForms(operation)
  const idsForm = operation.idsForm && idsFormParser(operation.idsForm, { place, known })

  return (raw, object) => {
    const local = object !== undefined
    if (raw === undefined) return { objects: [], problems: [] }
    if (local && Array.isArray(raw) && operation.changes !== true) {
      return failed(problem('wrongType', { name: 'body', place, actual: 'array', expected: 'object' }))
    }
    if (!local && idsForm !== undefined && isJsonObject(raw) && (raw['ids'] ?? null) !== null)
      return idsForm(raw)

    const items: readonly unknown[] = Array.isArray(raw) ? raw : [raw]
    const tooMany = tooManyProblem(items.length)
    if (tooMany.length > 0) return { objects: [], problems: tooMany }
    const scope = local ? 'local' : 'global'
    const problems: Problem[] = []
    const objects = items.map((given, index): BodyObject => {
      if (problems.length >= maxReportedErrors) return { parameters: {} }
      const prefix = Array.isArray(raw) ? `[${index}].` : ''
      const plain = plainForm(given, prefix)
      if (plain.problem !== undefined) {
        problems.push(plain.problem)
        return { parameters: {} }
      }
      const rawItem = plain.item
      const crowded = countProblems(rawItem, schemas.global, { place, prefix })
      if (crowded.length > 0) {
        problems.push(...crowded)
        return { parameters: {} }
      }
      const item = withoutAbsent(rawItem, known)
      if (!isJsonObject(item)) {
        const name = prefix === '' ? 'body' : prefix.slice(0, -1)
        problems.push(problem('wrongType', { name, place, actual: kindOf(item), expected: 'object' }))
        return { parameters: {} }
      }
      const named = local ? refusedIdentifiers(item, operation, object) : []
      problems.push(...named)
      const checked = named.length === 0 ? item : takeIdentifier(item, place).rest
      problems.push(...problemsOf(validate[scope](checked), { place, prefix, schema: schemas[scope] }))
      if (local || !namesObjects(operation)) return { parameters: checked }
      return splitObject(checked, { place, problems })
    })
    return { objects, problems }
  }
}

/**
 * Splits an object into target and parameters. An object without an identifier is no problem yet: the query
 * may name the objects, or all may be meant.
 */
function splitObject(
  item: JsonObject,
  { place, problems }: { readonly place: string; readonly problems: Problem[] },
): BodyObject {
  const { target, rest, problem: wrong } = takeIdentifier(item, place)
  if (wrong?.failure === 'notBoth') problems.push(wrong)
  return target === undefined ? { parameters: rest } : { target, parameters: rest }
}

function refusedIdentifiers(
  item: JsonObject,
  { place, idsForm }: Operation,
  object: string,
): readonly Problem[] {
  const names = idsForm === undefined ? ['uuid', 'name'] : ['uuid', 'name', 'ids']
  return names
    .filter((name) => name in item)
    .map((name) => problem('identifierInLocalScope', { name, place, object: shortened(object) }))
}

function idsFormParser(
  schema: TObject,
  { place, known }: { readonly place: string; readonly known: TObject },
): (body: JsonObject) => ParsedBody {
  const validate = strictValidator(schema)
  return (raw) => {
    const tooMany = tooManyProblem(Array.isArray(raw['ids']) ? raw['ids'].length : 0)
    if (tooMany.length > 0) return { objects: [], problems: tooMany }
    const crowded = countProblems(raw, schema, { place, prefix: '' })
    if (crowded.length > 0) return { objects: [], problems: crowded }
    const body = withoutAbsent(raw, known) as JsonObject
    const other = ['uuid', 'name', 'state'].find((key) => key in body)
    if (other !== undefined) return failed(problem('notBoth', { name: 'ids', other, place }))
    const problems = [...problemsOf(validate(body), { place, prefix: '', schema })]
    const { ids, ...shared } = body
    if (problems.length > 0 || !Array.isArray(ids)) return { objects: [], problems }
    const objects = (ids as readonly JsonObject[]).map((id): BodyObject => {
      const { target, rest, problem: wrong } = takeIdentifier(id, place)
      if (wrong !== undefined) problems.push(wrong)
      const parameters = { ...rest, ...shared }
      return target === undefined ? { parameters } : { target, parameters }
    })
    return { objects, problems }
  }
}

function failed(wrong: Problem): ParsedBody {
  return { objects: [], problems: [wrong] }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
