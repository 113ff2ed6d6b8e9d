import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'

/** A schema of the OpenAPI document, as JSON. */
export type Json = Readonly<Record<string, any>> // oxlint-disable-line typescript/no-explicit-any

/**
 * Makes and checks values by the schemas of the document alone, like a tool that does not know this
 * repository.
 */
export interface SchemaSamples {
  /** Values that fit the schema. */
  of(schema: Json): fc.Arbitrary<unknown>
  fits(schema: Json, value: unknown): boolean
}

const years = { min: new Date('1000-01-01'), max: new Date('9999-12-31') }

export function schemaSamples(document: Json): SchemaSamples {
  const ajv = new Ajv2020({ strict: false })
  formats.default(ajv)
  ajv.addSchema({ $id: 'document', ...document })
  const validators = new WeakMap<Json, ValidateFunction>()
  const validatorOf = (schema: Json): ValidateFunction => {
    const made = validators.get(schema) ?? ajv.compile(withDocument(schema))
    validators.set(schema, made)
    return made
  }
  const fits = (schema: Json, value: unknown) => validatorOf(schema)(value)
  const of = (schema: Json): fc.Arbitrary<unknown> => sampled(schema).filter((value) => fits(schema, value))

  /**
   * The same schema as a list of schemas without `$ref` and combining rules: a value that fits the schema
   * fits one of these.
   */
  function alternatives(schema: Json): readonly Json[] {
    if ('$ref' in schema)
      return alternatives(document['components'].schemas[schema['$ref'].split('/').at(-1)])
    const { allOf = [], anyOf, oneOf, ...rest } = schema
    const groups: (readonly Json[])[] = [
      ...allOf.map(alternatives),
      ...[anyOf, oneOf].flatMap((branches) =>
        branches === undefined ? [] : [branches.flatMap(alternatives)],
      ),
    ]
    return groups.reduce(
      (all, group) => all.flatMap((one) => group.map((other) => merged(one, other))).filter(isPossible),
      [rest] as readonly Json[],
    )
  }

  function sampled(schema: Json): fc.Arbitrary<unknown> {
    return fc.oneof(...alternatives(schema).map(ofOne))
  }

  function ofOne(schema: Json): fc.Arbitrary<unknown> {
    if ('const' in schema) return fc.constant(schema['const'])
    if ('enum' in schema) return fc.constantFrom(...schema['enum'])
    return fc.oneof(...([schema['type']].flat() as string[]).map((type) => ofType(type, schema)))
  }

  function ofType(type: string, schema: Json): fc.Arbitrary<unknown> {
    const { minimum = -(2 ** 53), maximum = 2 ** 53, minItems = 0, maxItems = 5, maxLength } = schema
    switch (type) {
      case 'null':
        return fc.constant(null)
      case 'boolean':
        return fc.boolean()
      case 'integer':
        return fc.maxSafeInteger().map((number) => Math.min(Math.max(number, minimum), maximum))
      case 'number':
        return fc
          .double({ noNaN: true, noDefaultInfinity: true })
          .map((number) => Math.min(Math.max(number, minimum), maximum))
      case 'string':
        if (schema['format'] === 'date-time')
          return fc.date({ ...years, noInvalidDate: true }).map((date) => date.toISOString())
        if (schema['pattern'] === undefined) return fc.string({ maxLength: maxLength ?? 20 })
        return fc.stringMatching(new RegExp(schema['pattern'], 'u'), { size: 'small' })
      case 'array':
        return (schema['uniqueItems'] ? fc.uniqueArray : fc.array)(sampled(schema['items']), {
          minLength: minItems,
          maxLength: Math.min(maxItems, minItems + 3),
        })
      case 'object':
        return ofObject(schema)
      default:
        throw new Error(`the document has a schema of type '${type}'`)
    }
  }

  function ofObject({ properties, required = [], patternProperties }: Json): fc.Arbitrary<unknown> {
    if (patternProperties !== undefined) {
      const [[pattern, schema]] = Object.entries(patternProperties) as [[string, Json]]
      return fc.dictionary(sampled({ type: 'string', pattern }) as fc.Arbitrary<string>, sampled(schema))
    }
    const entries = Object.entries(properties as Json)
    return fc.record(Object.fromEntries(entries.map(([key, schema]) => [key, sampled(schema)])), {
      requiredKeys: required,
    })
  }

  return { of, fits }
}

function withDocument(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as Json
}

function isPossible({ type }: Json): boolean {
  return !Array.isArray(type) || type.length > 0
}

/**
 * A schema for values that fit both. It handles the pairs that the document has: the schema of an object or
 * value, and a rule about it.
 */
function merged(one: Json, other: Json): Json {
  const isRule = (schema: Json) => ['$ref', 'allOf', 'anyOf', 'oneOf'].some((keyword) => keyword in schema)
  if (isRule(one) || isRule(other)) return { allOf: [one, other] }
  const types = [one['type'], other['type']].flatMap((type) => (type === undefined ? [] : [[type].flat()]))
  const properties: Record<string, Json> = { ...one['properties'] }
  for (const [key, schema] of Object.entries((other['properties'] ?? {}) as Json)) {
    const own = properties[key]
    properties[key] = own === undefined ? (schema as Json) : merged(own, schema as Json)
  }
  return {
    ...one,
    ...other,
    ...(types.length > 0 && { type: types.reduce((a, b) => a.filter((type) => b.includes(type))) }),
    ...(Object.keys(properties).length > 0 && { properties }),
    required: [...(one['required'] ?? []), ...(other['required'] ?? [])],
  }
}
