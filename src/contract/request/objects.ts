import { isUuid, parseObjectName } from '../../domain/object-name.ts'
import { problem } from '../errors.ts'
import type { Problem } from '../errors.ts'
import { maxObjectsPerRequest } from '../limits.ts'
import { identifiersOf } from '../operation.ts'
import type { IdentifierKey, Operation } from '../operation.ts'
import { endpointParents } from '../operations.ts'
import type { Target } from './parsed-request.ts'

/** A JSON object that nobody has checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Splits a body object into its identifier and the rest. Two identifiers, or none, are a problem. */
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

/** Returns the canonical form of an identifier, or the problem with it. */
export function canonicalTarget(target: Target): Target | Problem {
  if (target.by === 'uuid') {
    return isUuid(target.value)
      ? { ...target, value: target.value.toLowerCase() }
      : problem('invalidUuid', { value: target.value })
  }
  const name = parseObjectName(target.value)
  return name === undefined ? problem('invalidName', { value: target.value }) : { ...target, value: name }
}

/** Reads an object's identifier in a path: a UUID if it has the form of one, else a name. */
export function pathTarget(part: string): Target {
  return isUuid(part) ? { by: 'uuid', value: part } : { by: 'name', value: part }
}

/** Like `pathTarget`, but only by name or by UUID if the objects of the operation have nothing else. */
export function objectInPath(operation: Operation, part: string): Target {
  const [by, ...others] = identifiersOf(operation)
  const target = by === undefined || others.length > 0 ? pathTarget(part) : { by, value: part }
  const { path, localPath } = operation
  const mayBeEndpoint = localPath === `${path}/{object}` && endpointParents.has(path)
  return target.by === 'name' && mayBeEndpoint ? { ...target, endpointPath: `${path}/${part}` } : target
}

export function tooManyProblem(count: number): readonly Problem[] {
  return count > maxObjectsPerRequest
    ? [problem('tooManyObjects', { count, limit: maxObjectsPerRequest })]
    : []
}
