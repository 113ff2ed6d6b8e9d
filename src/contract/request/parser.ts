import { RequestError, problem } from '../errors.ts'
import type { Problem } from '../errors.ts'
import { Scope, identifiersOf } from '../operation.ts'
import type { Operation, OperationBody, OperationQuery } from '../operation.ts'
import type { ParsedRequest, RawRequest, RequestObject, Target } from './parsed-request.ts'
import { bodyParser } from './body.ts'
import type { BodyObject, ParsedBody } from './body.ts'
import { canonicalTarget, missingIdentifier, objectInPath, pathTarget, tooManyProblem } from './objects.ts'
import type { JsonObject } from './objects.ts'
import { pageFor } from './inclusive-cursor.ts'
import { queryParser } from './query.ts'
import type { ParsedQuery } from './query.ts'
import { inMilliseconds } from './timeout-seconds.ts'
import { problemsOf } from './validation-problems.ts'
import { coercingValidator } from './validators.ts'

/**
 * Applies the conventions of the API about requests, for every operation: global scope with one object, an
 * array, or query lists; local scope without identifiers; errors name what is unknown or has the wrong type.
 * The parser throws a `RequestError` with everything that is wrong.
 */
export function requestParser<O extends Operation>(
  operation: O,
): (raw: RawRequest) => ParsedRequest<OperationBody<O>, OperationQuery<O>> {
  const parseQuery = queryParser(operation)
  const parseBody = bodyParser(operation)
  const coerce = parameterCoercer(operation)

  return (raw) => {
    const local = raw.object !== undefined
    const query = parseQuery(raw.query, raw.object)
    const body = parseBody(raw.body, raw.object)
    refuse([...query.problems, ...body.problems])
    const named = local ? localObjects(operation, raw.object, body) : globalObjects(operation, query, body)
    const { objects, problems } = withQueryParameters(named, query.parameters, {
      place: operation.place,
      coerce,
    })
    refuse(problems)
    return {
      ...ownerOf(raw.owner),
      local,
      objects: canonical(operation, objects),
      query: query.query,
      page: pageFor(raw.userAgent, query.page),
    } as ParsedRequest<OperationBody<O>, OperationQuery<O>>
  }
}

function refuse(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new RequestError(problems)
}

function ownerOf(part: string | undefined): { readonly owner?: Target } {
  if (part === undefined) return {}
  const owner = canonicalTarget(pathTarget(part))
  if ('by' in owner) return { owner }
  throw new RequestError([owner])
}

function localObjects(operation: Operation, object: string, body: ParsedBody): readonly BodyObject[] {
  const target = objectInPath(operation, object)
  if (operation.changes !== true) return [{ target, parameters: sharedParameters(operation, body) }]
  if (body.objects.length === 0) refuse([problem('missingBody', { place: operation.place })])
  return body.objects.map(({ parameters }) => ({ target, parameters }))
}

/**
 * The parameters of a body whose objects are named elsewhere. If there is no body, its required parameters
 * have not been checked yet.
 */
function sharedParameters({ body: schema, place }: Operation, body: ParsedBody): JsonObject {
  const { required = [] } = schema as { readonly required?: readonly string[] }
  if (body.objects.length === 0 && required.length > 0) refuse([problem('missingBody', { place })])
  return body.objects[0]?.parameters ?? {}
}

/**
 * The objects of a request in global scope: those that the body names, or else those that the query names.
 */
function globalObjects(operation: Operation, query: ParsedQuery, body: ParsedBody): readonly BodyObject[] {
  const { scope, place } = operation
  if (scope === Scope.Create && body.objects.length === 0) refuse([problem('missingBody', { place })])
  if (scope === Scope.Create || scope === Scope.Collection || scope === Scope.Account) return body.objects
  if (query.targets.length > 0) return objectsOfQuery(operation, query.targets, body)
  const unnamed = body.objects.filter((object) => object.target === undefined)
  if (scope === Scope.ObjectsOrAll && unnamed.length === body.objects.length && unnamed.length <= 1) {
    return []
  }
  if (unnamed.length > 0 || body.objects.length === 0) {
    refuse([missingIdentifier(place, identifiersOf(operation))])
  }
  return body.objects
}

function objectsOfQuery(
  operation: Operation,
  targets: readonly Target[],
  body: ParsedBody,
): readonly BodyObject[] {
  const { place } = operation
  if (body.objects.length > 1 || body.objects.some((object) => object.target !== undefined)) {
    refuse([problem('inQueryAndBody', { what: 'Identifiers', place })])
  }
  refuse(tooManyProblem(targets.length))
  const parameters = sharedParameters(operation, body)
  return targets.map((target) => ({ target, parameters }))
}

/**
 * Adds the object parameters of the query. A single value applies to every object; several values are one per
 * object. In a collection, where nothing names objects, each of several values makes a filter.
 */
function withQueryParameters(
  named: readonly BodyObject[],
  parameters: ReadonlyMap<string, readonly string[]>,
  {
    place,
    coerce,
  }: {
    readonly place: string
    readonly coerce: (parameters: JsonObject) => {
      readonly value: JsonObject
      readonly problems: readonly Problem[]
    }
  },
): { readonly objects: readonly BodyObject[]; readonly problems: readonly Problem[] } {
  if (parameters.size === 0) return { objects: named, problems: [] }
  const most = Math.max(...[...parameters.values()].map((values) => values.length))
  const objects =
    named.length === 0 ? Array.from({ length: most }, (): BodyObject => ({ parameters: {} })) : named
  const problems: Problem[] = []
  const result = objects.map((object, index): BodyObject => {
    const fromQuery: Record<string, unknown> = {}
    for (const [name, values] of parameters) {
      if (values.length > 1 && values.length !== objects.length) {
        problems.push(problem('repeatedParameter', { name, count: values.length }))
      }
      if (name in object.parameters) {
        problems.push(problem('inQueryAndBody', { what: `'${name}'`, place }))
      }
      const value = values.length === 1 ? values[0] : values[index]
      if (value !== undefined) fromQuery[name] = value
    }
    const coerced = coerce(fromQuery)
    problems.push(...coerced.problems)
    return { ...object, parameters: { ...coerced.value, ...object.parameters } }
  })
  return { objects: result, problems: distinct(problems) }
}

function parameterCoercer(operation: Operation) {
  const schema = operation.body
  const validate = coercingValidator(schema)
  return (parameters: JsonObject) => {
    const value = { ...parameters }
    return { value, problems: problemsOf(validate(value), { place: 'the query', prefix: '', schema }) }
  }
}

/** Drops repeated problems: a wrong value of the query is found once for every object. */
function distinct(problems: readonly Problem[]): readonly Problem[] {
  return [...new Map(problems.map((each) => [each.message, each])).values()]
}

function canonical(operation: Operation, objects: readonly BodyObject[]): readonly RequestObject<unknown>[] {
  const problems: Problem[] = []
  const result = objects.map(({ target, parameters: given }): RequestObject<unknown> => {
    const parameters = inMilliseconds(operation, given)
    if (target === undefined) return { parameters }
    const canonicalized = canonicalTarget(target)
    if ('by' in canonicalized) return { target: canonicalized, parameters }
    problems.push(canonicalized)
    return { parameters }
  })
  refuse(problems)
  return result
}
