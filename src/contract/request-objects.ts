import { isUuid, parseObjectName } from '../domain/object-name.ts'
import { problem } from './errors.ts'
import type { Problem } from './errors.ts'
import { maxArguments, maxObjectsPerRequest } from './limits.ts'
import { identifiersOf } from './operation.ts'
import type { IdentifierKey, Operation } from './operation.ts'
import type { Target } from './parsed-request.ts'

/** A JSON object, as yet unchecked. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Environment variables may be called `name` and be empty; everywhere else such a pair says nothing. */
const opaqueKeys: ReadonlySet<string> = new Set(['env'])

/** No schema is deeper; a body of nothing but brackets must not exhaust the stack. */
const maxDepth = 8

/** Drops every `uuid` and `name` that is an empty string: clients send both keys, one of them empty. */
export function withoutEmptyIdentifiers(value: unknown, depth = 0): unknown {
  if (depth > maxDepth) return value
  // No list is longer that will be accepted: see `body-counts.ts`.
  if (Array.isArray(value) && value.length > maxArguments) return value
  if (Array.isArray(value)) return value.map((item) => withoutEmptyIdentifiers(item, depth + 1))
  if (!isJsonObject(value)) return value
  const kept = Object.entries(value).filter(
    ([key, inner]) => !((key === 'uuid' || key === 'name') && inner === ''),
  )
  return Object.fromEntries(
    kept.map(([key, inner]) => [
      key,
      opaqueKeys.has(key) ? inner : withoutEmptyIdentifiers(inner, depth + 1),
    ]),
  )
}

/** The identifier of a body object, taken off it; a problem where there are two or none. */
export function takeIdentifier(
  object: JsonObject,
  place: string,
): { readonly target?: Target; readonly rest: JsonObject; readonly problem?: Problem } {
  const { uuid, name, ...rest } = object
  if (uuid !== undefined && name !== undefined) {
    return { rest, problem: problem('notBoth', { name: 'uuid', other: 'name', place }) }
  }
  if (typeof uuid === 'string') return { rest, target: { by: 'uuid', value: uuid } }
  if (typeof name === 'string') return { rest, target: { by: 'name', value: name } }
  return { rest, problem: missingIdentifier(place) }
}

export function missingIdentifier(
  place: string,
  identifiers: readonly IdentifierKey[] = ['uuid', 'name'],
): Problem {
  const quoted = identifiers.map((key) => `'${key}'`).join(' and ')
  return problem('missingIdentifier', { place, fields: identifiers.length > 1 ? `one of ${quoted}` : quoted })
}

/** The canonical form of an identifier, or what is wrong with it. */
export function canonicalTarget(target: Target): Target | Problem {
  if (target.by === 'uuid') {
    return isUuid(target.value)
      ? { by: 'uuid', value: target.value.toLowerCase() }
      : problem('invalidUuid', { value: target.value })
  }
  const name = parseObjectName(target.value)
  return name === undefined ? problem('invalidName', { value: target.value }) : { by: 'name', value: name }
}

/** What stands for an object in a path: a UUID where it has the form of one, else a name. */
export function pathTarget(part: string): Target {
  return isUuid(part) ? { by: 'uuid', value: part } : { by: 'name', value: part }
}

/** The same for the objects of an operation, which may have no UUID. */
export function objectInPath(operation: Operation, part: string): Target {
  return identifiersOf(operation).includes('uuid') ? pathTarget(part) : { by: 'name', value: part }
}

export function tooManyProblem(count: number): readonly Problem[] {
  return count > maxObjectsPerRequest
    ? [problem('tooManyObjects', { count, limit: maxObjectsPerRequest })]
    : []
}
