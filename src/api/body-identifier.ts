import type { Problem } from '../contract/errors.ts'
import { canonicalTarget, takeIdentifier } from '../contract/request/objects.ts'
import type { Identifier } from '../db/identifiers.ts'
import { identifierOf } from './named-objects.ts'

/** The value read from a part of a body, or all problems with it. */
export type Read<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly Problem[] }

/** Reads the object that a part of a body names. `place` is the name of that part in messages. */
export function readIdentifier(
  given: { readonly uuid?: string; readonly name?: string },
  place: string,
): Read<Identifier> {
  const taken = takeIdentifier({ ...given }, place)
  if (taken.target === undefined) return { ok: false, problems: taken.problem ? [taken.problem] : [] }
  const target = canonicalTarget(taken.target)
  return 'by' in target ? { ok: true, value: identifierOf(target) } : { ok: false, problems: [target] }
}
