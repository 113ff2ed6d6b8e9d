import { Type } from 'typebox'
import type { TObject } from 'typebox'
import { problem } from '../errors.ts'
import type { Problem } from '../errors.ts'
import { closed, identifierFields, vocabulary } from '../fields.ts'
import { maxChangeIdLength } from '../limits.ts'
import type { Operation } from '../operation.ts'
import { isJsonObject } from './objects.ts'
import type { JsonObject } from './objects.ts'
import { shortened } from './validation-problems.ts'

/** What a change of one property does with it, in the form that newer clients send. */
export const ChangeOp = {
  /** Replaces the property. Without a value, the property gets its default again. */
  Set: 'set',
  /** Adds members to a list or a record. */
  Add: 'add',
  /** Takes members away from a list or a record. Without a value, all of them. */
  Del: 'del',
} as const
export type ChangeOp = (typeof ChangeOp)[keyof typeof ChangeOp]

const ops: readonly unknown[] = Object.values(ChangeOp)
const formKeys = ['prop', 'op', 'value'] as const

/** The fields of a change that are no property of the object. */
export const besideProperties: ReadonlySet<string> = new Set([
  'id',
  'add',
  'del',
  'clear',
  'restart',
  'drain_timeout_ms',
])

/** The schema of that form, for the OpenAPI document. */
export function changeForm(operation: Operation, local: boolean): TObject {
  const keys = Object.keys(operation.body.properties)
  return closed({
    ...(local ? {} : identifierFields),
    id: Type.Optional(Type.String({ maxLength: maxChangeIdLength })),
    prop: vocabulary(
      keys.filter((key) => !besideProperties.has(key)),
      'The property.',
    ),
    op: vocabulary(
      Object.values(ChangeOp),
      'What to do with it. Without a value, it gets its default again.',
    ),
    value: Type.Optional(Type.Unknown()),
  })
}

/**
 * Turns `{ prop, op, value }`, which newer clients send, into the plain form of the same change: `{ [prop]:
 * value }`, `{ add: { [prop]: value } }`, `{ del: { [prop]: value } }`, or `{ clear: [prop] }` if there is no
 * value. So there is one schema for both forms, and both get the same errors. An object that is in the plain
 * form already is returned as it is.
 */
export function plainChange(
  item: unknown,
  { place, prefix }: { readonly place: string; readonly prefix: string },
): { readonly item: unknown; readonly problem?: Problem } {
  if (!isJsonObject(item) || !formKeys.some((key) => Object.hasOwn(item, key))) return { item }
  const { prop, op, value, ...rest } = item
  if (typeof prop !== 'string') return { item, problem: notText(prop, { name: `${prefix}prop`, place }) }
  if (typeof op !== 'string') return { item, problem: notText(op, { name: `${prefix}op`, place }) }
  if (!ops.includes(op)) {
    const valid = ops.join(', ')
    return { item, problem: problem('invalidValue', { value: shortened(op), name: `${prefix}op`, valid }) }
  }
  return { item: { ...rest, ...changed(prop, op as ChangeOp, value ?? undefined) } }
}

function changed(prop: string, op: ChangeOp, value: unknown): JsonObject {
  if (value === undefined) return op === ChangeOp.Add ? {} : { clear: [prop] }
  // `Object.fromEntries` makes an own property of every name, also of `__proto__`.
  const property = Object.fromEntries([[prop, value]])
  return op === ChangeOp.Set ? property : { [op]: property }
}

function notText(
  value: unknown,
  { name, place }: { readonly name: string; readonly place: string },
): Problem {
  if (value === undefined || value === null) return problem('missingParameter', { name, place })
  const actual = Array.isArray(value) ? 'array' : typeof value
  return problem('wrongType', { name, place, actual, expected: 'string' })
}
