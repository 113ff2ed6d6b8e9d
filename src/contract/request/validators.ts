import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ErrorObject } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { TSchema } from 'typebox'
import { isUuid, parseObjectName } from '../../domain/object-name.ts'
import { textErrors } from './text-errors.ts'

/**
 * Bodies are not coerced: a number in quotes is a string. All errors are collected, with the wrong values.
 */
const strict = prepared(new Ajv2020({ allErrors: true, verbose: true, strict: true, strictTypes: false }))
/** Paths and queries are text, so their values are turned into the schema's types, in place. */
const coercing = prepared(
  new Ajv2020({ allErrors: true, verbose: true, strict: true, strictTypes: false, coerceTypes: true }),
)

export type Validate = (value: unknown) => readonly ErrorObject[]

export function strictValidator(schema: TSchema): Validate {
  return validator(strict, schema)
}

export function coercingValidator(schema: TSchema): Validate {
  return validator(coercing, schema)
}

function validator(ajv: Ajv2020, schema: TSchema): Validate {
  const validate = ajv.compile(schema)
  return (value) => (validate(value) ? textErrors(value) : [...(validate.errors ?? [])])
}

function prepared(ajv: Ajv2020): Ajv2020 {
  ajv.addFormat('date-time', isMoment)
  ajv.addFormat('uuid', isUuid)
  ajv.addFormat('object-name', (text: string) => parseObjectName(text) !== undefined)
  ajv.addKeyword('x-place')
  ajv.addKeyword('x-published')
  return ajv
}

const dateTime = formats.default.get('date-time') as { readonly validate: (text: string) => boolean }

/** A time as in RFC 3339, but no leap second: `Date` has none. */
function isMoment(text: string): boolean {
  return dateTime.validate(text) && !Number.isNaN(Date.parse(text))
}
