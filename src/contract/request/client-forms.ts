import { problem } from '../errors.ts'
import type { Problem } from '../errors.ts'
import type { Operation } from '../operation.ts'
import { isJsonObject } from './objects.ts'
import type { JsonObject } from './objects.ts'
import { changedProps, plainChange } from './plain-change.ts'
import { unknownParameter } from './unknown-parameter.ts'
import { shortened } from './validation-problems.ts'

/** One object of a body in the form of the schema, or the first thing in it that can not be said there. */
export interface PlainForm {
  readonly item: unknown
  readonly problem?: Problem
}

interface Where {
  readonly place: string
  readonly prefix: string
}

/**
 * Returns how the objects of an operation's bodies are turned from the forms that newer clients send into the
 * one that has a schema. So both forms get the same errors, and the code behind the parser knows one form.
 */
export function clientForms(operation: Operation): (given: unknown, prefix: string) => PlainForm {
  const { place, body, changes } = operation
  const changed = changedProps(operation)
  const forms = ownForms.filter(({ property }) => Object.hasOwn(body.properties, property))
  return (given, prefix) => {
    const where = { place, prefix }
    let form: PlainForm = changes === true ? plainChange(given, { ...changed, ...where }) : { item: given }
    for (const { read } of forms) {
      if (form.problem !== undefined || !isJsonObject(form.item)) return form
      form = read(form.item, where)
    }
    return form
  }
}

/** The other forms of single properties. Each concerns the operations that have the property. */
const ownForms: readonly {
  readonly property: string
  readonly read: (item: JsonObject, where: Where) => PlainForm
}[] = [
  { property: 'image', read: plainImage },
  { property: 'cn', read: plainCommonName },
  { property: 'master', read: plainMaster },
]

/**
 * `image` may be an object with `url`. The platform knows only its own registry, and reads with the rights of
 * the token, so credentials and headers have no meaning. A reference is looked up at each create, and its
 * image is fetched where it is missing: that is `always` and `if_not_present` at once.
 */
function plainImage(item: JsonObject, where: Where): PlainForm {
  const { image, ...rest } = item
  if (!isJsonObject(image)) return { item }
  const { url, pull_policy: pullPolicy, ...others } = image
  const { place, prefix } = where
  if (pullPolicy === 'never') {
    const reason = "an image is fetched where it is missing, so there is no policy 'never'"
    const name = `${prefix}image.pull_policy`
    return { item, problem: problem('absentParameter', { name, place, reason }) }
  }
  if ((url ?? null) === null)
    return { item, problem: problem('missingParameter', { name: `${prefix}image.url`, place }) }
  return { item: { ...rest, image: url }, ...unknownIn('image', others, where) }
}

/** `common_name` is the newer word for `cn`, and counts where both are given. */
function plainCommonName(item: JsonObject): PlainForm {
  const { common_name: commonName, cn: _older, ...rest } = item
  return (commonName ?? null) === null ? { item } : { item: { ...rest, cn: commonName } }
}

/** `create_args.template` names what is cloned. Here that is an instance, the `master`. */
function plainMaster(item: JsonObject, where: Where): PlainForm {
  const { create_args: args, ...rest } = item
  if (!isJsonObject(args) || (item['master'] ?? null) !== null) return { item }
  const { template, ...others } = args
  return { item: { ...rest, master: template }, ...unknownIn('create_args', others, where) }
}

/** The problem of the first of these parts that has a value. */
function unknownIn(
  whole: string,
  parts: JsonObject,
  { place, prefix }: Where,
): { readonly problem?: Problem } {
  const key = Object.keys(parts).find((each) => (parts[each] ?? null) !== null)
  if (key === undefined) return {}
  return { problem: unknownParameter({ key, name: `${prefix}${whole}.${shortened(key)}`, place }) }
}
