import { ApiFailure } from './api-failure.ts'
import type { components } from './api-types.ts'

/** The bodies of the API by their names, such as `CreateInstancesObject`. */
export type Schemas = components['schemas']

type AnswerName = Extract<keyof Schemas, `${string}Answer`>
type AnyAnswer = Schemas[AnswerName]
type DataOf<A> = A extends { data: infer D } ? D : never
type ElementOf<D> = D extends unknown ? (D[keyof D] extends readonly (infer E)[] ? E : never) : never

/** An entry of an answer that tells of an object that failed. */
export interface FailedEntry {
  readonly status: 'error'
  readonly uuid?: string
  readonly name?: string
  readonly state?: string
  readonly message: string
  readonly error: number
}

/** An entry of an answer that tells of success. */
export type EntryIn<A> = Exclude<ElementOf<DataOf<A>>, { status: 'error' }>
/** The successful entry of an answer that is known by its name, such as `GetInstancesAnswer`. */
export type Entry<Name extends AnswerName> = EntryIn<Schemas[Name]>

/** What the client's methods resolve to. They throw if the request as a whole failed, so `data` is there. */
interface Answered<A> {
  readonly data?: A
}

/** All entries of an answer, in the order of the request. */
export function entriesOf<A extends AnyAnswer>({
  data: answer,
}: Answered<A>): readonly (EntryIn<A> | FailedEntry)[] {
  const entries = answer === undefined ? undefined : Object.values(answer.data)[0]
  if (!Array.isArray(entries)) throw new ApiFailure('the answer of the API has no entries')
  return entries as readonly (EntryIn<A> | FailedEntry)[]
}

/** The entries of an answer. Throws `ApiFailure` with the first entry that failed. */
export function succeeded<A extends AnyAnswer>(answered: Answered<A>): readonly EntryIn<A>[] {
  return entriesOf(answered).map((entry) => {
    if (isFailed(entry)) throw failureOfEntry(entry)
    return entry
  })
}

/** The one entry of an answer about one object. Throws `ApiFailure` if it failed. */
export function one<A extends AnyAnswer>(answered: Answered<A>): EntryIn<A> {
  const [entry] = succeeded(answered)
  if (entry === undefined) throw new ApiFailure('the answer of the API has no entry')
  return entry
}

export function isFailed(entry: object): entry is FailedEntry {
  return 'status' in entry && entry.status === 'error'
}

export function failureOfEntry({ uuid, name, state, message, error }: FailedEntry): ApiFailure {
  const object = name ?? uuid
  return new ApiFailure(message, {
    httpStatus: 200,
    code: error,
    ...(object === undefined ? {} : { object }),
    ...(state === undefined ? {} : { state }),
  })
}
