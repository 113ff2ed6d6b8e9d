import { Type } from 'typebox'
import type { TProperties, TSchema, TSchemaOptions } from 'typebox'
import { maxLabelLength, maxNameLength } from '../domain/object-name.ts'
import { quotaRange } from '../domain/account/quotas.ts'
import { maxChangeIdLength } from './limits.ts'
import { exactlyOne } from './openapi/published-rules.ts'

/**
 * The parts from which the schemas of all resources are made. Objects are closed: an unknown property is an
 * error in a request and a mistake in an answer. `x-place` names a nested object in messages. `x-published`
 * holds keywords of JSON Schema that replace it in the OpenAPI document. They describe rules that code
 * checks, because the code's sentences say more than the validator's.
 */
export function closed<P extends TProperties>(
  properties: P,
  options: TSchemaOptions & { 'x-place'?: string; 'x-published'?: object } = {},
) {
  return Type.Object(properties, { additionalProperties: false, ...options })
}

export function vocabulary<V extends string>(values: readonly V[], description: string) {
  return Type.Unsafe<V>({ type: 'string', enum: [...values], description })
}

/** The parameters of an operation that has none. */
export const noParameters = closed({})

/** The query of operations that return the status of objects. */
export const detailsQuery = closed({
  details: Type.Optional(Type.Boolean({ description: 'Give all fields; default true.' })),
})

/** A name in a request: checked and lower-cased by the rules of `src/domain/object-name.ts`. */
export const nameField = Type.String({
  format: 'object-name',
  description:
    `A domain name as in RFC 1035, at most ${maxNameLength} characters, its labels at most ${maxLabelLength}; upper case is ` +
    'lowered.',
})
export const uuidField = Type.String({ format: 'uuid', description: 'Identifier given at creation.' })
export const timestampField = Type.String({ format: 'date-time', description: 'As in RFC 3339, in UTC.' })

export const statusSuccess = Type.Literal('success')

/**
 * The identifiers of an object. A request gives exactly one of them. An empty string counts as absent, so
 * the schema requires neither.
 */
export const identifierFields = {
  uuid: Type.Optional(uuidField),
  name: Type.Optional(nameField),
}

/** With it, a client finds its change again in the answer. */
export const changeId = Type.Optional(
  Type.String({ maxLength: maxChangeIdLength, description: 'Returned with the entry of this change.' }),
)

/** The identifier of one object, as a part of a request that holds nothing else. */
export function identifier(options: TSchemaOptions & { 'x-place': string }) {
  return closed(identifierFields, { 'x-published': exactlyOne(['uuid', 'name']), ...options })
}

/**
 * A number that the account's limits bound. The schema sets no bound, so that only one sentence reports a
 * wrong value: the one about the account's limits.
 */
export function withinLimits(description: string, limits: string) {
  return Type.Integer({
    'x-published': { minimum: quotaRange.min, maximum: quotaRange.max },
    description: `${description} The account's limits are narrower: \`${limits}\` in \`GET /v1/users/quotas\`.`,
  })
}

export function count(description: string) {
  return Type.Integer({ minimum: 0, description })
}

export function optionalAll<P extends TProperties>(properties: P) {
  return Object.fromEntries(
    Object.entries(properties).map(([key, schema]) => [key, Type.Optional(schema)]),
  ) as { [K in keyof P]: ReturnType<typeof Type.Optional<P[K] & TSchema>> }
}
