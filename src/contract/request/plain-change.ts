import { Type } from 'typebox'
import type { TObject, TSchema } from 'typebox'
import { whyAbsent } from '../absent-features.ts'
import { problem } from '../errors.ts'
import type { Problem } from '../errors.ts'
import { changeId, closed, identifierFields, vocabulary } from '../fields.ts'
import type { Operation } from '../operation.ts'
import { atMostOne } from '../openapi/published-rules.ts'
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

const ops: readonly string[] = Object.values(ChangeOp)
const formKeys = ['prop', 'op', 'value'] as const
/** The fields of the plain form that hold properties. */
const listKeys: readonly string[] = ['add', 'del', 'clear']

/** The fields of a change that are no property of the object. */
const besideProperties: ReadonlySet<string> = new Set([
  'id',
  'add',
  'del',
  'clear',
  'restart',
  'drain_timeout_ms',
])

/** The properties that an operation changes, and those of them that have a default. */
export interface ChangedProps {
  readonly props: readonly string[]
  readonly clearable: readonly string[]
}

export function changedProps({ body }: Pick<Operation, 'body'>): ChangedProps {
  const { clear } = body.properties as unknown as Lists
  const props = Object.keys(body.properties).filter((key) => !besideProperties.has(key))
  return { props, clearable: clear?.items.enum ?? [] }
}

/** The schemas of the fields of the plain form that hold properties. */
interface Lists {
  readonly add?: TObject
  readonly del?: TObject
  readonly clear?: { readonly items: { readonly enum: readonly string[] } }
}

/** The schemas of that form for the OpenAPI document: one for each thing that can be done with a property. */
export function changeForms(operation: Operation, local: boolean): readonly TObject[] {
  const { properties } = operation.body
  const { add, del } = properties as unknown as Lists
  const { props, clearable } = changedProps(operation)
  return props.flatMap((prop) => {
    const values: readonly (readonly [ChangeOp, TSchema | undefined])[] = [
      [ChangeOp.Set, properties[prop]],
      [ChangeOp.Add, add?.properties?.[prop]],
      [ChangeOp.Del, del?.properties?.[prop]],
    ]
    return values.flatMap(([op, value]) =>
      value === undefined
        ? []
        : changeForm({ prop, op, value, local, isNeeded: op !== ChangeOp.Add && !clearable.includes(prop) }),
    )
  })
}

function changeForm(change: {
  readonly prop: string
  readonly op: ChangeOp
  readonly value: TSchema
  readonly local: boolean
  readonly isNeeded: boolean
}): TObject {
  const { prop, op, value, local, isNeeded } = change
  return closed(
    {
      ...(local ? {} : identifierFields),
      id: changeId,
      prop: vocabulary([prop], 'The property.'),
      op: vocabulary([op], 'What to do with it.'),
      // A copy of the schema of a property that may be left out is required.
      value: isNeeded ? Type.Unsafe({ ...value }) : Type.Optional(value),
    },
    local ? {} : { 'x-published': atMostOne(['uuid', 'name']) },
  )
}

/**
 * Turns `{ prop, op, value }`, which newer clients send, into the plain form of the same change: `{ [prop]:
 * value }`, `{ add: { [prop]: value } }`, `{ del: { [prop]: value } }`, or `{ clear: [prop] }` if there is no
 * value. So there is one schema for both forms, and both get the same errors. `props` are the properties that
 * can be changed. An object that is in the plain form already is returned as it is.
 */
export function plainChange(
  item: unknown,
  { props, clearable, place, prefix }: ChangedProps & { readonly place: string; readonly prefix: string },
): { readonly item: unknown; readonly problem?: Problem } {
  if (!isJsonObject(item) || !formKeys.some((key) => Object.hasOwn(item, key))) return { item }
  const { prop, op, value, ...rest } = item
  if (typeof prop !== 'string') return { item, problem: notText(prop, { name: `${prefix}prop`, place }) }
  if (typeof op !== 'string') return { item, problem: notText(op, { name: `${prefix}op`, place }) }
  // A name of something else, such as `add` or `uuid`, would change the meaning of the whole object.
  if (!props.includes(prop)) {
    const reason = whyAbsent(prop)
    if (reason === undefined) return { item, problem: unknownWord(prop, `${prefix}prop`, props) }
    return { item, problem: problem('absentParameter', { name: `${prefix}${prop}`, place, reason }) }
  }
  if (!ops.includes(op)) return { item, problem: unknownWord(op, `${prefix}op`, ops) }
  const other = Object.keys(rest).find(
    (key) => (props.includes(key) || listKeys.includes(key)) && (rest[key] ?? null) !== null,
  )
  if (other !== undefined) {
    return { item, problem: problem('notBoth', { name: `${prefix}prop`, other: `${prefix}${other}`, place }) }
  }
  const isWithout = value === undefined || value === null
  if (isWithout && op !== ChangeOp.Add && !clearable.includes(prop))
    return { item, problem: problem('missingParameter', { name: `${prefix}value`, place }) }
  return { item: { ...rest, ...changed(prop, op as ChangeOp, value ?? undefined) } }
}

function unknownWord(word: string, name: string, valid: readonly string[]): Problem {
  return problem('invalidValue', { value: shortened(word), name, valid: valid.join(', ') })
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
