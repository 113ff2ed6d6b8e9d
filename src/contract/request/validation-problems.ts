import type { ErrorObject } from 'ajv/dist/2020.js'
import type { TSchema } from 'typebox'
import { problem, rangeProblem } from '../errors.ts'
import type { Problem } from '../errors.ts'
import { firstFlaw } from '../../domain/plain-text.ts'
import { maxEnvNameLength, maxReportedErrors } from '../limits.ts'
import { textKeyword } from './text-errors.ts'
import { unknownParameter } from './unknown-parameter.ts'

/**
 * Turns the validator's errors into sentences for the user, in terms of the request: `place` is the name of
 * its parameters, and `prefix` is written before every path (`[2].` for the third object of an array).
 * Returns at most `maxReportedErrors`: a body of 1 MiB can hold an error per two bytes.
 */
export function problemsOf(
  errors: readonly ErrorObject[],
  where: { readonly place: string; readonly prefix: string; readonly schema: TSchema },
): readonly Problem[] {
  return withoutBranches(errors)
    .slice(0, maxReportedErrors)
    .map((error) => problemOf(error, where))
}

type Where = Parameters<typeof problemsOf>[1]

/**
 * Keeps the errors that help, if a value fits no branch of an `anyOf`. The validator then reports an error
 * per branch. The reader needs one of two things: what is wrong deeper in the branch that was meant, or
 * that the value has none of the possible types.
 */
function withoutBranches(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const unions = errors.filter((error) => error.keyword === 'anyOf')
  return errors.filter((error) => {
    const union = unions.find((each) => error.schemaPath.startsWith(`${each.schemaPath}/`))
    if (union !== undefined) return !(error.keyword === 'type' && error.instancePath === union.instancePath)
    if (error.keyword !== 'anyOf') return true
    return !errors.some(
      (other) =>
        other.schemaPath.startsWith(`${error.schemaPath}/`) &&
        !(other.keyword === 'type' && other.instancePath === error.instancePath),
    )
  })
}

function problemOf(error: ErrorObject, where: Where): Problem {
  const name = where.prefix + dotted(error.instancePath)
  const { place } = where
  const value = text(error.data)
  const nested = nestedPlace(where.schema, error.instancePath)
  const inPlace = { name: lastPart(error.instancePath), in: nested === undefined ? '' : ` in ${nested}` }
  const limit = Number(error.params['limit'])
  switch (error.keyword) {
    case 'type':
    case 'anyOf':
      return problem('wrongType', {
        name,
        place,
        actual: typeName(error.data),
        expected: expectedType(error),
      })
    case 'additionalProperties':
      return unknownProperty(error, where)
    case 'required':
      return problem('missingParameter', {
        name: joined(name, String(error.params['missingProperty'])),
        place,
      })
    case 'enum':
      return notInVocabulary(error, where)
    case 'minimum':
    case 'maximum':
      return outOfBounds(error, inPlace)
    case 'format':
      return misformed(error.params['format'] as string, { name, place, value })
    case 'maxLength':
      return problem('tooLong', { ...inPlace, limit, unit: 'characters' })
    case 'minLength':
      return problem('tooShort', { ...inPlace, limit, unit: 'characters' })
    case 'minItems':
      return problem('tooShort', { ...inPlace, limit, unit: 'elements' })
    case 'pattern':
      return problem('invalidContent', { name, place, reason: 'it holds a character that is not allowed' })
    case textKeyword:
      return problem('invalidContent', { name, place, reason: textFlaw(error, where.schema) })
    default:
      return problem('invalidContent', { name, place, reason: error.message ?? error.keyword })
  }
}

function misformed(format: string, { name, place, value }: Readonly<Record<string, string>>): Problem {
  if (format === 'uuid') return problem('invalidUuid', { value: value! })
  if (format === 'object-name') return problem('invalidName', { value: value! })
  const reason = `'${value}' is no time: expected one such as '2026-11-30T08:15:00Z'`
  return problem('invalidContent', { name: name!, place: place!, reason })
}

/** The rule for names in `env`, the only parameter whose keys the user chooses. */
const envNameRule = `1 to ${maxEnvNameLength} characters without '=', NUL and halves of surrogate pairs`

/**
 * Says which character in a value is not plain text. A value that may be a secret is not repeated in the
 * message; it is repeated only if the schema has it and does not mark it as `writeOnly`.
 */
function textFlaw(error: ErrorObject, schema: TSchema): string {
  const key = error.params['key'] as string | undefined
  if (key !== undefined)
    return `the name '${shortened(key)}' in it holds ${firstFlaw(key)}, which no text can hold`
  const node = nodeAt(schema, error.instancePath)
  const isOpen = node !== undefined && node.writeOnly !== true
  const value = String(error.data)
  return `${isOpen ? `'${shortened(value)}'` : 'it'} holds ${firstFlaw(value)}, which no text can hold`
}

function unknownProperty(error: ErrorObject, { place, prefix }: Where): Problem {
  const key = String(error.params['additionalProperty'])
  const path = prefix + dotted(error.instancePath)
  if (error.parentSchema?.['patternProperties'] !== undefined) {
    const reason = `'${shortened(key)}' cannot be the name of a variable: expected ${envNameRule}`
    return problem('invalidContent', { name: path, place, reason })
  }
  return unknownParameter({ key, name: joined(path, shortened(key)), place })
}

/** A wrong word in a list is reported as a flag of that list, any other as the value of its parameter. */
function notInVocabulary(error: ErrorObject, { prefix }: Where): Problem {
  const inList = /\/\d+$/.test(error.instancePath)
  const name = inList ? dotted(error.instancePath.replace(/\/\d+$/, '')) : prefix + dotted(error.instancePath)
  const valid = (error.params['allowedValues'] as readonly string[]).join(', ')
  return problem(inList ? 'invalidFlag' : 'invalidValue', { value: text(error.data), name, valid })
}

function outOfBounds(error: ErrorObject, name: { readonly name: string; readonly in: string }): Problem {
  const { minimum, maximum } = error.parentSchema as { readonly minimum?: number; readonly maximum?: number }
  if (maximum === undefined) return problem('tooSmall', { ...name, min: minimum ?? Number.MIN_SAFE_INTEGER })
  return rangeProblem({ ...name, min: minimum ?? Number.MIN_SAFE_INTEGER, max: maximum })
}

function expectedType(error: ErrorObject): string {
  if (error.keyword === 'type') return String(error.params['type'])
  const branches = (error.parentSchema?.['anyOf'] ?? []) as readonly { readonly type?: string }[]
  return branches.map((branch) => branch.type ?? 'other').join("' or '")
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

/** Writes `/services/0/port` as `services[0].port`. */
function dotted(instancePath: string): string {
  return segments(instancePath).reduce(
    (path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : joined(path, part)),
    '',
  )
}

export function joined(path: string, key: string): string {
  return path === '' || path.endsWith('.') ? `${path}${key}` : `${path}.${key}`
}

function segments(instancePath: string): readonly string[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function lastPart(instancePath: string): string {
  return segments(instancePath).findLast((part) => !/^\d+$/.test(part)) ?? ''
}

interface Node {
  readonly 'x-place'?: string
  readonly writeOnly?: boolean
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
}

/** The name of the innermost object around a value that has one. */
function nestedPlace(schema: TSchema, instancePath: string): string | undefined {
  let place: string | undefined
  let node: Node | undefined = schema
  for (const part of segments(instancePath)) {
    if (node?.['x-place'] !== undefined) place = node['x-place']
    node = node?.properties?.[part] ?? node?.items
  }
  return place
}

/** The schema of one value; undefined for a variable of `env` and inside a union. */
function nodeAt(schema: TSchema, instancePath: string): Node | undefined {
  return segments(instancePath).reduce<Node | undefined>(
    (node, part) => node?.properties?.[part] ?? node?.items,
    schema,
  )
}

const longestQuoted = 64

function text(value: unknown): string {
  if (typeof value === 'string') return shortened(value)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : typeName(value)
}

/** Cuts a wrong value to the length at which it is repeated in a message: never a megabyte of it. */
export function shortened(value: string): string {
  return value.length <= longestQuoted ? value : `${value.slice(0, longestQuoted)}…`
}
