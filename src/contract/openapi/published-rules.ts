// Rules about several properties of an object, as keywords of JSON Schema. They are for the OpenAPI
// document only. Requests are checked by code, whose sentences say better what is wrong. No object fits two
// branches of such a rule. The rules are `anyOf` and not `oneOf` all the same, because null fits every
// branch where it is allowed.

type Keywords = Readonly<Record<string, unknown>>

const identifiers: ReadonlySet<string> = new Set(['uuid', 'name'])

/** The schemas of properties that count as not given: null, or for an identifier an empty string. */
function unsaid(keys: readonly string[]): Keywords {
  return Object.fromEntries(keys.map((key) => [key, { enum: identifiers.has(key) ? ['', null] : [null] }]))
}

function said(key: string): Keywords {
  return identifiers.has(key) ? { type: 'string', minLength: 1 } : { type: ['string', 'integer'] }
}

/** Exactly one of these properties is given. If so, the schemas in `others` apply too. */
export function exactlyOne(
  keys: readonly string[],
  others: Keywords = {},
): { readonly anyOf: readonly Keywords[] } {
  return {
    anyOf: keys.map((key) => ({
      required: [key],
      properties: { ...unsaid(keys.filter((other) => other !== key)), [key]: said(key), ...others },
    })),
  }
}

/** Exactly one of these properties, which are objects, is given. */
export function exactlyOneObject(keys: readonly string[]): { readonly anyOf: readonly Keywords[] } {
  return {
    anyOf: keys.map((key) => ({
      required: [key],
      properties: { ...unsaid(keys.filter((other) => other !== key)), [key]: { type: 'object' } },
    })),
  }
}

/** At least one of these properties is given. */
export function atLeastOne(keys: readonly string[]): Keywords {
  return { anyOf: keys.map((key) => ({ required: [key], properties: { [key]: said(key) } })) }
}

/** At most one of these properties is given. */
export function atMostOne(keys: readonly string[]): Keywords {
  return keys.length < 2
    ? {}
    : { anyOf: keys.map((key) => ({ properties: unsaid(keys.filter((other) => other !== key)) })) }
}

export function bothRules(one: Keywords, other: object = {}): Keywords {
  const rules = [one, other].filter((each) => Object.keys(each).length > 0)
  return rules.length > 1 ? { allOf: rules } : { ...rules[0] }
}

/** Either exactly one identifier is given and none of the other properties, or no identifier is given. */
export function identifierOr(others: {
  readonly lists: readonly string[]
  readonly values: readonly string[]
}): Keywords {
  const empty = Object.fromEntries(others.lists.map((key) => [key, { maxItems: 0 }]))
  const named = exactlyOne(['uuid', 'name'], { ...empty, ...unsaid(others.values) })
  return { anyOf: [{ properties: unsaid(['uuid', 'name']) }, ...named.anyOf] }
}
