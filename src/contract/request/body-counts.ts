import type { TSchema } from 'typebox'
import { problem } from '../errors.ts'
import type { Problem } from '../errors.ts'
import { maxReportedErrors } from '../limits.ts'
import { isJsonObject } from './objects.ts'
import { joined, shortened } from './validation-problems.ts'

interface Where {
  readonly place: string
  /** The text before every path, such as `[2].` */
  readonly prefix: string
}

/** The keywords of JSON Schema that matter here. */
interface Node {
  readonly 'x-place'?: string
  readonly anyOf?: readonly Node[]
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly maxItems?: number
  readonly maxProperties?: number
}

/**
 * Finds lists with too many elements and objects with too many keys, by counting alone. The validator would
 * look at every element and collect every error before its list could be cut, which takes a second for a
 * hostile body of 1 MiB. So the validator only gets values that passed here.
 */
export function countProblems(value: unknown, schema: TSchema, where: Where): readonly Problem[] {
  return problemsAt(value, schema, { ...where, name: '', path: where.prefix })
}

interface At extends Where {
  readonly name: string
  readonly path: string
  readonly nested?: string
}

function problemsAt(value: unknown, node: Node, at: At): readonly Problem[] {
  if (node.anyOf !== undefined) return node.anyOf.flatMap((branch) => problemsAt(value, branch, at))
  if (Array.isArray(value)) return arrayProblems(value, node, at)
  return isJsonObject(value) ? objectProblems(value, node, at) : []
}

function arrayProblems(value: readonly unknown[], node: Node, at: At): readonly Problem[] {
  const tooMany = tooManyElements(value.length, node.maxItems, at)
  const { items } = node
  if (tooMany.length > 0 || items === undefined) return tooMany
  return value.flatMap((item, index) => problemsAt(item, items, { ...at, path: `${at.path}[${index}]` }))
}

function objectProblems(value: Readonly<Record<string, unknown>>, node: Node, at: At): readonly Problem[] {
  const keys = Object.keys(value)
  const { properties } = node
  if (properties === undefined) return tooManyElements(keys.length, node.maxProperties, at)
  if (keys.length > Object.keys(properties).length + maxReportedErrors)
    return unknownKeys(keys, properties, at)
  const nested = node['x-place'] ?? at.nested
  return keys.flatMap((key) => {
    const inner = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (inner === undefined) return []
    const inside = nested === undefined ? {} : { nested }
    return problemsAt(value[key], inner, { ...at, ...inside, name: key, path: joined(at.path, key) })
  })
}

function tooManyElements(count: number, limit: number | undefined, at: At): readonly Problem[] {
  if (limit === undefined || count <= limit) return []
  const inPlace = at.nested === undefined ? '' : ` in ${at.nested}`
  return [problem('tooManyElements', { name: at.name, in: inPlace, count, limit })]
}

function unknownKeys(
  keys: readonly string[],
  known: NonNullable<Node['properties']>,
  at: At,
): readonly Problem[] {
  return keys
    .filter((key) => !Object.hasOwn(known, key))
    .slice(0, maxReportedErrors)
    .map((key) => problem('unknownParameter', { name: joined(at.path, shortened(key)), place: at.place }))
}
