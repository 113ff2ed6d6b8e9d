import type { Static, TSchema } from 'typebox'
import { RequestError } from '../../contract/errors.ts'
import { problemsOf } from '../../contract/request/validation-problems.ts'
import { strictValidator } from '../../contract/request/validators.ts'
import { isJsonObject } from '../../domain/json-text.ts'

/**
 * Returns what reads messages of other parts. Fields that this API does not know are left out before anything
 * is checked: a part of a later version tells more, and has to be heard all the same. Throws `RequestError`.
 */
export function messageReader<S extends TSchema>(schema: S, place: string): (body: unknown) => Static<S> {
  const validate = strictValidator(schema)
  return (body) => {
    const told = known(body, schema)
    const problems = problemsOf(validate(told), { place, prefix: '', schema })
    if (problems.length > 0) throw new RequestError(problems)
    return told as Static<S>
  }
}

interface ObjectSchema {
  readonly additionalProperties?: unknown
  readonly properties?: Readonly<Record<string, object>>
}

/** A copy without the fields that closed objects of the schema do not have. */
function known(value: unknown, schema: ObjectSchema): unknown {
  const { properties, additionalProperties } = schema
  if (!isJsonObject(value) || properties === undefined || additionalProperties !== false) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      const of = Object.hasOwn(properties, name) ? properties[name] : undefined
      return of === undefined ? [] : [[name, known(one, of)]]
    }),
  )
}
